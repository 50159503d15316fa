//! Backups of a data directory while a server runs on it, their restoration, and the check of both.
//!
//! Objects (the stored blobs of encrypted chunks) never change once they have their name, so they are linked where the
//! file system can, and copied elsewhere. A backup has the layout of a data directory; its description is written
//! last, and marks it as whole.

use crate::background::machine_ms;
use crate::error::{Error, Result};
use crate::server::Server;
use cairn_store::{
    KEEP_OBJECTS, NeededObjects, ObjectLocation, ObjectUse, begin_restored_histories,
    objects_needed_by, private_files,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const DATABASE: &str = "cairn.db";
/// The database of a restore that is not finished.
const NEW_DATABASE: &str = "cairn.db.new";
const OBJECTS: &str = "objects";
/// The key with which the server encrypts secrets in the database.
const KEY: &str = "records.key";
const KEEP_TEXT: &str = "This data directory was restored from a backup, and its objects lie in a bucket.\n\
    As long as this file is here, the server deletes none of them: what the backup does not know,\n\
    another server may need. Delete the file when no other server uses the bucket.\n";
const DESCRIPTION: &str = "backup.json";
/// Copies of the database that are made at most until one of them finds all of its objects.
const TRIES: usize = 5;

/// The contents of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// The version of the program that made it.
    pub version: String,
    pub created_at: String,
    /// Objects in it; none of a server whose objects lie elsewhere.
    pub objects: u64,
    /// Bytes of these objects.
    pub bytes: u64,
    /// The objects lie in the backup, and not in a store of their own.
    pub has_objects: bool,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub objects: u64,
    pub bytes: u64,
    /// Objects that nothing refers to; the next sweep deletes them.
    pub unreferenced: u64,
    /// The contents of objects were read as well.
    pub read_data: bool,
    pub problems: Vec<String>,
}

fn at(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let what = format!("can't {what} {}", path.display());
    move |source| Error::io(what, source)
}

/// Makes a directory for its owner alone, or takes an empty one.
fn empty_directory(dir: &Path) -> Result<()> {
    private_files::create_dir(dir).map_err(at("make", dir))?;
    if fs::read_dir(dir).map_err(at("read", dir))?.next().is_some() {
        return Err(Error::config(format!(
            "{} is not empty; choose a new directory",
            dir.display()
        )));
    }
    Ok(())
}

/// Returns a path without links and `..`, also of what is not there yet.
fn resolve(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(at("find", path))?;
    let mut missing = Vec::new();
    let mut there = path.as_path();
    loop {
        match there.canonicalize() {
            Ok(found) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(found, |path, name| path.join(name)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at("find", there)(error)),
        }
        let (Some(above), Some(name)) = (there.parent(), there.file_name()) else {
            return Ok(path);
        };
        missing.push(name.to_owned());
        there = above;
    }
}

/// Refuses a directory that lies in another: what is lost or deleted with that one is lost with it.
fn check_outside(dir: &Path, other: &Path, why: &str) -> Result<()> {
    if resolve(dir)?.starts_with(resolve(other)?) {
        return Err(Error::config(format!(
            "{} lies in {}, {why}; choose another directory",
            dir.display(),
            other.display()
        )));
    }
    Ok(())
}

/// Hard-links a file that never changes, or copies it; returns its size in bytes. `None` if it is gone.
fn take(from: &Path, to: &Path) -> Result<Option<u64>> {
    let size = match fs::metadata(from) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at("read", from)(error)),
    };
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(at("make", parent))?;
    }
    if fs::hard_link(from, to).is_ok() {
        return Ok(Some(size));
    }
    match fs::copy(from, to) {
        Ok(copied) if copied == size => Ok(Some(size)),
        Ok(_) => Err(Error::config(format!(
            "{} changed while it was copied",
            from.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("copy", from)(error)),
    }
}

/// Takes the objects that are needed and not there yet; returns the first that is gone.
fn take_objects(from: &Path, to: &Path, needed: &NeededObjects) -> Result<Option<String>> {
    for (name, least) in needed {
        let target = to.join(name);
        let size = match fs::metadata(&target) {
            Ok(found) => Some(found.len()),
            Err(_) => take(&from.join(name), &target)?,
        };
        if size.is_none_or(|size| size < *least) {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

/// Deletes the names of objects in a new backup that its database does not need.
fn drop_others(objects: &Path, needed: &NeededObjects) -> Result<(u64, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for folder in directories(objects)? {
        for file in fs::read_dir(&folder).map_err(at("read", &folder))? {
            let file = file.map_err(at("read", &folder))?;
            let name = file.path();
            let relative = name.strip_prefix(objects).unwrap_or(&name);
            let relative = relative.to_string_lossy().replace('\\', "/");
            if needed.contains_key(&relative) {
                count += 1;
                bytes += file.metadata().map_err(at("read", &name))?.len();
            } else {
                fs::remove_file(&name).map_err(at("clean up", &name))?;
            }
        }
    }
    Ok((count, bytes))
}

fn directories(objects: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut found = Vec::new();
    if !objects.exists() {
        return Ok(found);
    }
    for entry in fs::read_dir(objects).map_err(at("read", objects))? {
        let path = entry.map_err(at("read", objects))?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

fn write_through(path: &Path, text: &str) -> Result<()> {
    let mut file = fs::File::create(path).map_err(at("write", path))?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(at("write", path))?;
    file.sync_all().map_err(at("write", path))
}

impl Server {
    /// Copies the data of a server into a new directory, while it runs.
    ///
    /// # Errors
    /// A directory that is not empty, that lies in the data directory, or that can't be written.
    pub fn backup(&self, to: &Path) -> Result<Backup> {
        let options = self.state.options();
        let (data, store) = (&options.data, &self.state.store);
        check_outside(to, data, "the data directory that is to be backed up")?;
        empty_directory(to)?;
        // Objects that the server would delete meanwhile stay until the copy is whole.
        let _held = self.state.objects.lock_all()?;
        let has_objects = options.objects == ObjectLocation::Local;
        let (from, objects) = (data.join(OBJECTS), to.join(OBJECTS));
        let database = to.join(DATABASE);
        let mut needed = store.needed_objects()?;
        if has_objects {
            // Most of the work, before the copy of the database: an object that is deleted meanwhile is not needed.
            for name in needed.keys() {
                take(&from.join(name), &objects.join(name))?;
            }
        }
        for attempt in 1.. {
            store.copy_database(&database)?;
            needed = objects_needed_by(&database)?;
            let gone = if has_objects {
                take_objects(&from, &objects, &needed)?
            } else {
                None
            };
            let Some(gone) = gone else { break };
            if attempt == TRIES {
                return Err(Error::config(format!(
                    "the object {gone} is missing or cut short; `cairn-server check` lists what is lost"
                )));
            }
            fs::remove_file(&database).map_err(at("clean up", &database))?;
        }
        let (count, bytes) = if has_objects {
            drop_others(&objects, &needed)?
        } else {
            (0, 0)
        };
        let key = data.join(KEY);
        fs::copy(&key, to.join(KEY)).map_err(at("copy", &key))?;
        let backup = Backup {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: cairn_wire::Timestamp(self.state.source.now_ms()).to_string(),
            objects: count,
            bytes,
            has_objects,
        };
        let text = serde_json::to_string_pretty(&backup)
            .map_err(|e| Error::internal(format!("a backup can't be described: {e}")))?;
        write_through(&to.join(DESCRIPTION), &text)?;
        Ok(backup)
    }

    /// Checks that everything that the database refers to is there; with `read_data` that it can be
    /// read, too, and has the bytes that were stored. Damaged chunks and objects are noted, so that devices that have them
    /// send them again.
    ///
    /// # Errors
    /// A database or an object store that fails as a whole.
    pub async fn check(&self, read_data: bool) -> Result<Checked> {
        let (store, objects) = (&self.state.store, &self.state.objects);
        let mut checked = Checked {
            read_data,
            problems: store.check_integrity()?,
            ..Checked::default()
        };
        // In this order: an object is there before the database speaks of it.
        let needed = store.needed_objects()?;
        let hashes = store.space_object_hashes()?;
        let uses = store.object_uses()?.into_iter();
        let uses: HashMap<String, ObjectUse> = uses.map(|one| (one.name.clone(), one)).collect();
        let sizes = objects.sizes().await?;
        for (name, least) in &needed {
            let found = sizes.get(name).copied();
            if let Some(size) = found {
                checked.objects += 1;
                checked.bytes += size;
            } else if !store.needed_objects()?.contains_key(name) {
                // It has gone since the database was asked.
                continue;
            }
            let hash = hashes.get(name);
            if let Some(problem) = self
                .problem_of(name, (found, *least), (hash, uses.get(name)), read_data)
                .await
            {
                checked.problems.push(problem);
            }
        }
        let others = sizes.keys().filter(|name| !needed.contains_key(*name));
        checked.unreferenced = others.count() as u64;
        Ok(checked)
    }

    /// Returns the problem of an object that has some size and needs another, if it has one.
    async fn problem_of(
        &self,
        name: &str,
        (size, least): (Option<u64>, u64),
        (sha256, chunks): (Option<&[u8; 32]>, Option<&ObjectUse>),
        read_data: bool,
    ) -> Option<String> {
        let problem = match size {
            None => format!("the object {name} is missing"),
            Some(size) if size < least => {
                format!("the object {name} has {size} bytes and needs {least}")
            }
            Some(_) if !read_data => return None,
            Some(_) => match self.is_as_stored(name, least, (sha256, chunks)).await {
                Ok(true) => return None,
                Ok(false) => format!("the object {name} has other bytes than were stored"),
                Err(error) => return Some(format!("the object {name} can't be read: {error}")),
            },
        };
        let is_whole = size.is_some_and(|size| size >= least);
        let noted = match sha256 {
            // Noted when it was read.
            None if is_whole => Ok(()),
            Some(_) => self
                .state
                .store
                .note_space_object(name, true)
                .map_err(Error::from),
            None => self.examine(chunks).await.map(drop),
        };
        Some(match noted {
            Ok(()) => format!("{problem}; a device that has it sends it again"),
            Err(error) => format!("{problem}, and that can't be noted: {error}"),
        })
    }

    /// Returns whether an object has the bytes that were stored in it.
    async fn is_as_stored(
        &self,
        name: &str,
        size: u64,
        (sha256, chunks): (Option<&[u8; 32]>, Option<&ObjectUse>),
    ) -> Result<bool> {
        match sha256 {
            Some(sha256) => {
                let found = self.state.objects.get_whole(name, size, sha256).await?;
                Ok(found.is_some())
            }
            None => Ok(self.examine(chunks).await? == 0),
        }
    }

    /// Notes which chunks of files in an object are damaged; returns how many.
    async fn examine(&self, object: Option<&ObjectUse>) -> Result<u64> {
        match object {
            Some(object) => self.state.stored_chunks().examine(object).await,
            None => Ok(0),
        }
    }
}

/// Makes a data directory of a backup.
///
/// # Errors
/// A backup that is not whole, and a directory that is not empty or lies in the backup.
pub fn restore(from: &Path, data: &Path) -> Result<Backup> {
    let description = from.join(DESCRIPTION);
    let text = fs::read_to_string(&description).map_err(|source| {
        let what = format!(
            "{} is not a complete backup: can't read {}",
            from.display(),
            description.display()
        );
        Error::io(what, source)
    })?;
    let backup: Backup = serde_json::from_str(&text)
        .map_err(|e| Error::config(format!("{}: {e}", description.display())))?;
    let database = from.join(DATABASE);
    let needed = objects_needed_by(&database)?;
    check_outside(data, from, "the backup itself")?;
    empty_directory(data)?;
    if backup.has_objects
        && let Some(gone) = take_objects(&from.join(OBJECTS), &data.join(OBJECTS), &needed)?
    {
        return Err(Error::config(format!(
            "the backup lacks the object {gone}; {} is not whole either, delete it",
            data.display()
        )));
    }
    if !backup.has_objects {
        // Before the database: what the backup does not know, another server may need.
        let keep = data.join(KEEP_OBJECTS);
        fs::write(&keep, KEEP_TEXT).map_err(at("write", &keep))?;
    }
    fs::copy(from.join(KEY), data.join(KEY)).map_err(at("copy", &from.join(KEY)))?;
    // The database gets its name only once each signed log in it has a new history id, by which devices see that there
    // was a restore: a server that starts on what an interrupted one left would show an older log as the present one.
    let (new, whole) = (data.join(NEW_DATABASE), data.join(DATABASE));
    fs::copy(&database, &new).map_err(at("copy", &database))?;
    begin_restored_histories(&new, machine_ms())?;
    let file = fs::File::open(&new).map_err(at("open", &new))?;
    file.sync_all().map_err(at("write", &new))?;
    fs::rename(&new, &whole).map_err(at("write", &whole))?;
    Ok(backup)
}
