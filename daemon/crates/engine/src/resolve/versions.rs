//! Keeping one version of a file in place of the other, which goes to the trash.

use super::find::Found;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::observe::hash::local_stat;
use crate::observe::rules::TEMP_DIR;
use crate::trash;
use cairn_model::Kind;
use cairn_platform::Expect;
use cairn_platform::disk::is_target_changed;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// The version to keep.
pub(super) enum Version {
    Copy,
    Bytes(Vec<u8>),
}

/// Moves the conflict copy to the trash.
///
/// # Errors
/// [`EngineError::Stale`] if it was edited since it was scanned, or the disk's.
pub(super) fn discard_copy(engine: &Engine, found: &Found) -> Result<(), EngineError> {
    let root = Path::new(&found.folder.root);
    let from = found.open.copy.to_path(root);
    // Edited since it was read: that is nobody's choice, and it stays.
    if found.copy.kind == Kind::File
        && local_stat(&engine.ports.disk.stat(&from)?) != found.copy.stat
    {
        return Err(EngineError::Stale);
    }
    trash::put(
        &*engine.ports.disk,
        root,
        &from,
        &found.open.copy,
        engine.ports.clock.now_ms(),
    )?;
    Ok(())
}

/// Puts a version over the file that has the name; what was there goes to the trash.
///
/// # Errors
/// [`EngineError::Stale`] if the file was edited since it was scanned, or the disk's.
pub(super) fn put_over(engine: &Engine, found: &Found, from: Version) -> Result<(), EngineError> {
    let disk = &engine.ports.disk;
    let root = Path::new(&found.folder.root);
    let target = found.open.path.to_path(root);
    let copy = found.open.copy.to_path(root);
    let mut temp = disk.create_temp(
        &root.join(TEMP_DIR),
        &format!("resolve-{}", found.copy.id.0),
    )?;
    temp.set_len(0)?;
    match from {
        Version::Copy => {
            let mut source = disk.open(&copy)?;
            let mut piece = vec![0; 256 * 1024];
            loop {
                match source.read(&mut piece)? {
                    0 => break,
                    n => temp.write_all(&piece[..n])?,
                }
            }
        }
        Version::Bytes(bytes) => temp.write_all(&bytes)?,
    }
    temp.set_executable(found.copy.executable)?;
    temp.sync()?;
    let path = temp.path().to_owned();
    drop(temp);
    let expect = match disk.stat(&target) {
        Ok(stat) => {
            if found
                .original
                .as_ref()
                .is_some_and(|row| local_stat(&stat) != row.stat)
            {
                return Err(EngineError::Stale);
            }
            Expect::Same(stat.key())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Expect::Absent,
        Err(error) => return Err(error.into()),
    };
    match disk.replace(&path, &target, expect) {
        Err(error) if is_target_changed(&error) => return Err(EngineError::Stale),
        other => other?,
    };
    if expect != Expect::Absent {
        trash::put(
            &**disk,
            root,
            &path,
            &found.open.path,
            engine.ports.clock.now_ms(),
        )?;
    }
    Ok(())
}
