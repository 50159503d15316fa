//! A copy of a file that keeps changing, made between two changes of it and sent instead.

use crate::error::Changing;
use crate::observe::hash::local_stat;
use crate::observe::rules::TEMP_DIR;
use crate::step::Ctx;
use cairn_index::LocalStat;
use cairn_model::LocalId;
use cairn_platform::Disk;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of failed tries after which a file is copied before it is sent.
pub(super) const COPY_AFTER: u32 = 3;
/// The file is looked at after each piece of this length.
const PIECE: usize = 1024 * 1024;

/// A copy; it is removed when it is dropped.
pub(super) struct Copied {
    disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    /// The stat of the copy.
    pub(super) stat: LocalStat,
    /// The stat of the file when it was copied.
    pub(super) of: LocalStat,
}

impl Drop for Copied {
    fn drop(&mut self) {
        if let Err(error) = self.disk.remove_file(&self.path) {
            tracing::debug!(%error, "a temporary file stays for now");
        }
    }
}

/// Copies a file of the folder, if it is not written meanwhile.
pub(super) async fn copy(ctx: &Ctx, local: LocalId, file: &Path) -> io::Result<Copied> {
    let disk = Arc::clone(&ctx.engine.ports.disk);
    let (root, file) = (ctx.root().to_owned(), file.to_owned());
    let copy = move || copy_stable(disk, &root, &file, &format!("copy-{}", local.0));
    ctx.engine.ports.run_blocking(copy).await
}

fn copy_stable(disk: Arc<dyn Disk>, root: &Path, file: &Path, name: &str) -> io::Result<Copied> {
    let mut from = disk.open(file)?;
    let of = local_stat(&from.stat()?);
    let room = disk.free_space(root)?;
    if room < of.size {
        return Err(io::Error::new(
            io::ErrorKind::StorageFull,
            format!("a copy needs {} bytes, {room} are free", of.size),
        ));
    }
    let mut to = disk.create_temp(&root.join(TEMP_DIR), name)?;
    let mut copied = Copied {
        disk: Arc::clone(&disk),
        path: to.path().to_owned(),
        stat: of,
        of,
    };
    to.set_len(0)?;
    let mut piece = vec![0; PIECE];
    let mut left = of.size;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let read = from.read(&mut piece[..wanted])?;
        if read == 0 || local_stat(&from.stat()?) != of {
            return Err(io::Error::other(Changing));
        }
        to.write_all(&piece[..read])?;
        left -= read as u64;
    }
    if local_stat(&from.stat()?) != of || local_stat(&disk.stat(file)?) != of {
        return Err(io::Error::other(Changing));
    }
    copied.stat = local_stat(&to.stat()?);
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::RealDisk;

    #[test]
    fn a_copy_has_the_bytes_of_the_file_and_goes_when_it_is_not_needed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
        std::fs::write(&file, &bytes).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
        let copied = copy_stable(Arc::clone(&disk), dir.path(), &file, "copy-1").unwrap();
        assert_eq!(std::fs::read(&copied.path).unwrap(), bytes);
        assert_eq!(copied.of, local_stat(&disk.stat(&file).unwrap()));
        assert_eq!(copied.stat, local_stat(&disk.stat(&copied.path).unwrap()));
        let path = copied.path.clone();
        drop(copied);
        assert!(!path.exists());
    }
}
