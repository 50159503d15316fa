//! Objects in a data directory of a database that several servers may use: a server whose directory has other objects
//! would lack the contents of files.

use crate::error::{Error, Result};
use crate::options::Options;
use cairn_store::{ObjectLocation, Store};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// The file beside the objects that says which database they belong to.
const FILE: &str = "objects.id";
/// The name of the same in the database.
const NAME: &str = "local_objects";

/// Checks that the objects of this directory are those of the database; the first server writes down that they are.
///
/// # Errors
/// [`Error::config`] for a directory with other objects.
pub(super) fn check(options: &Options, store: &Store) -> Result<()> {
    let is_local = options.objects == ObjectLocation::Local && !options.ephemeral;
    // Commands on accounts and keys need no objects.
    if !is_local || !options.serving || !store.is_shared() {
        return Ok(());
    }
    let path = options.data.join(FILE);
    let io = |source| Error::io(format!("can't use {}", path.display()), source);
    let mut own = match fs::read_to_string(&path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(io(error)),
    };
    if own.is_empty() && !store.has_secret(NAME)? {
        own = hex::encode(store.source().bytes::<16>());
        // On the disk before the database knows it: a crash in between is made up for by the next start.
        write(&path, &own).map_err(io)?;
    }
    let id = store.get_or_make(NAME, |_| false, |_| Ok(own.clone().into_bytes()))?;
    if id == own.as_bytes() {
        return Ok(());
    }
    Err(Error::config(format!(
        "the objects (chunks of files) of this database are not in {}: several servers on one database need the same \
         bucket in [objects] each. Where the objects were copied here, write {} into {}",
        options.data.display(),
        String::from_utf8_lossy(&id),
        path.display()
    )))
}

/// Writes the id of the objects, and makes it outlast a power failure.
fn write(path: &Path, id: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(id.as_bytes())?;
    file.sync_all()
}
