//! Objects in a data directory of a database that several servers may use: a server whose directory has other objects
//! would lack the contents of files.

use crate::error::{Error, Result};
use crate::options::Options;
use cairn_store::{ObjectLocation, Store};
use std::io::ErrorKind;

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
    let found = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text.trim().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(io(error)),
    };
    let is_known = store.has_secret(NAME)?;
    let id = hex::encode(store.secret(NAME)?);
    match found {
        Some(found) if found == id => Ok(()),
        None if !is_known => std::fs::write(&path, id).map_err(io),
        Some(_) | None => Err(Error::config(format!(
            "the objects (chunks of files) of this database are not in {}: several servers on one database need the \
             same bucket in [objects] each. Where the objects were copied here, copy {FILE} as well",
            options.data.display()
        ))),
    }
}
