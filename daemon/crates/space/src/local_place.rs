//! The target file of a download on this machine: a temporary file beside it gets its name once the content is
//! verified and on the disk. A file that has the name already is replaced in that one step, or not at all.

use crate::Space;
use crate::replace::{Kept, Replace};
use cairn_model::Manifest;
use cairn_transfer::{Download, FileTarget, Progress, TransferError, temp_in};
use std::fs::FileTimes;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::{NamedTempFile, TempPath};

/// Sets or clears the owner's permission to execute a file.
pub type SetExecutable<'a> = dyn Fn(&Path, bool) -> io::Result<()> + Sync + 'a;

/// The target path of a download.
#[derive(Clone)]
pub struct DownloadTarget<'a> {
    pub to: &'a Path,
    /// The files that are replaced if they are there.
    pub replace: Replace,
    pub set_executable: &'a SetExecutable<'a>,
}

/// The reason why a download is not in its place.
#[derive(Debug, thiserror::Error)]
pub enum DownloadTargetError {
    #[error("`{0}` exists already")]
    Exists(PathBuf),
    #[error("`{0}` was changed after somebody agreed to replace it")]
    Changed(PathBuf),
    #[error("`{0}` is a device, a pipe or a folder, and no file: it is not replaced")]
    NoFile(PathBuf),
    #[error("the service has no content of `{0}`")]
    NoContent(String),
    #[error("can't write to `{dir}`: {source}")]
    Folder { dir: PathBuf, source: io::Error },
    #[error("can't write `{to}`: {source}")]
    File { to: PathBuf, source: io::Error },
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl Space {
    /// Downloads one revision of a file to a place, which has either all of it or what it had before.
    ///
    /// # Errors
    /// [`DownloadTargetError`]; nothing of the download is left then.
    pub async fn download_to(
        &self,
        content: Download,
        place: DownloadTarget<'_>,
        progress: &dyn Progress,
    ) -> Result<Manifest, DownloadTargetError> {
        place.check()?;
        let temp = place.temp()?;
        let file = temp.as_file().try_clone();
        let target = FileTarget::new(file.map_err(|e| place.file_error(e))?);
        let manifest = self
            .transfer
            .download(content, Arc::new(target), progress)
            .await?;
        place.set_metadata(&temp, &manifest)?;
        temp.as_file().sync_all().map_err(|e| place.file_error(e))?;
        place.staged_file(temp).put()?;
        Ok(manifest)
    }
}

impl DownloadTarget<'_> {
    /// Refuses a place that has something that may not be replaced. A device or a pipe may never be.
    ///
    /// # Errors
    /// [`DownloadTargetError::Exists`], [`DownloadTargetError::Changed`], [`DownloadTargetError::NoFile`].
    pub fn check(&self) -> Result<(), DownloadTargetError> {
        check(&self.replace, self.to)
    }

    /// Writes a content that was verified beside the place. The caller waits until it lies on the disk, for many
    /// files at once; what replaces a file lies there already, whatever the caller's wait covers.
    ///
    /// # Errors
    /// [`DownloadTargetError`]; nothing is left then.
    pub fn stage(
        &self,
        bytes: &[u8],
        manifest: &Manifest,
    ) -> Result<StagedFile, DownloadTargetError> {
        let mut temp = self.temp()?;
        temp.write_all(bytes).map_err(|e| self.file_error(e))?;
        self.set_metadata(&temp, manifest)?;
        if self.is_taken() {
            temp.as_file().sync_all().map_err(|e| self.file_error(e))?;
        }
        Ok(self.staged_file(temp))
    }

    fn is_taken(&self) -> bool {
        self.to.symlink_metadata().is_ok()
    }

    /// Makes a file beside the place, so that putting it there is one rename; with the permissions that the user
    /// gives to new files.
    fn temp(&self) -> Result<NamedTempFile, DownloadTargetError> {
        let dir = self.to.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = dir.unwrap_or(Path::new("."));
        temp_in(dir).map_err(|source| DownloadTargetError::Folder {
            dir: dir.to_owned(),
            source,
        })
    }

    /// Gives a file the modification time and the executable bit of its manifest.
    fn set_metadata(
        &self,
        temp: &NamedTempFile,
        manifest: &Manifest,
    ) -> Result<(), DownloadTargetError> {
        let distance = Duration::from_millis(manifest.modified_ms.unsigned_abs());
        let modified = match manifest.modified_ms < 0 {
            true => UNIX_EPOCH.checked_sub(distance),
            false => UNIX_EPOCH.checked_add(distance),
        };
        let modified = modified.unwrap_or(UNIX_EPOCH);
        temp.as_file()
            .set_times(FileTimes::new().set_modified(modified))
            .and_then(|()| (self.set_executable)(temp.path(), manifest.executable))
            .map_err(|e| self.file_error(e))
    }

    /// Closes the file: there may be more of them than files that may be open.
    fn staged_file(&self, temp: NamedTempFile) -> StagedFile {
        StagedFile {
            temp: temp.into_temp_path(),
            to: self.to.to_owned(),
            replace: self.replace.clone(),
        }
    }

    fn file_error(&self, source: io::Error) -> DownloadTargetError {
        let to = self.to.to_owned();
        DownloadTargetError::File { to, source }
    }
}

/// A whole file beside its place. It is deleted unless it is put there.
#[derive(Debug)]
pub struct StagedFile {
    temp: TempPath,
    to: PathBuf,
    replace: Replace,
}

impl StagedFile {
    /// Puts the file in its place.
    ///
    /// # Errors
    /// [`DownloadTargetError::Exists`], [`DownloadTargetError::Changed`] or [`DownloadTargetError::NoFile`] if
    /// something came there meanwhile that may not be replaced.
    pub fn put(self) -> Result<(), DownloadTargetError> {
        let Self { temp, to, replace } = self;
        check(&replace, &to)?;
        let may_replace = replace.has(&to);
        let put = if may_replace {
            temp.persist(&to)
        } else {
            temp.persist_noclobber(&to)
        };
        put.map_err(|e| {
            let source = e.error;
            if !may_replace && source.kind() == io::ErrorKind::AlreadyExists {
                DownloadTargetError::Exists(to)
            } else {
                DownloadTargetError::File { to, source }
            }
        })
    }
}

fn check(replace: &Replace, to: &Path) -> Result<(), DownloadTargetError> {
    let Ok(there) = to.symlink_metadata() else {
        return Ok(());
    };
    replace.check(to, &there).map_err(|kept| match kept {
        Kept::Unnamed => DownloadTargetError::Exists(to.to_owned()),
        Kept::Changed => DownloadTargetError::Changed(to.to_owned()),
    })?;
    if there.is_file() || there.is_symlink() {
        return Ok(());
    }
    Err(DownloadTargetError::NoFile(to.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{ChunkId, ContentHash, ContentObject, DeviceId, NodeId, RevisionId, SpaceId};
    use std::fs;

    fn manifest() -> Manifest {
        Manifest {
            format: Manifest::FORMAT,
            space: SpaceId::from_random_bytes([1; 16]),
            node: NodeId::from_random_bytes([2; 16]),
            revision: RevisionId::from_random_bytes([3; 16]),
            base: None,
            number: 1,
            size: 3,
            modified_ms: 1_700_000_000_000,
            executable: true,
            content: ContentObject {
                id: ChunkId([0; 32]),
                node: NodeId::from_random_bytes([0; 16]),
                epoch: 1,
                is_list: false,
            },
            hash: ContentHash([0; 32]),
            author: DeviceId::from_random_bytes([4; 16]),
        }
    }

    fn names(dir: &Path) -> Vec<String> {
        let listed = fs::read_dir(dir).unwrap();
        let names = listed.map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_staged_file_has_its_time_and_takes_its_place_in_one_step() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("f");
        fs::write(&to, "old").unwrap();
        let executable = std::sync::Mutex::new(None);
        let place = DownloadTarget {
            to: &to,
            replace: Replace::Anything,
            set_executable: &|_, value| {
                *executable.lock().unwrap() = Some(value);
                Ok(())
            },
        };
        let staged = place.stage(b"new", &manifest()).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"old");
        staged.put().unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"new");
        let modified = fs::metadata(&to).unwrap().modified().unwrap();
        let since = modified.duration_since(UNIX_EPOCH).unwrap();
        assert_eq!(since.as_secs(), 1_700_000_000);
        assert_eq!(*executable.lock().unwrap(), Some(true));
        assert_eq!(names(dir.path()), ["f"]);
    }

    #[test]
    fn what_came_there_meanwhile_stays() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("f");
        let place = DownloadTarget {
            to: &to,
            replace: Replace::Nothing,
            set_executable: &|_, _| Ok(()),
        };
        place.check().unwrap();
        let staged = place.stage(b"new", &manifest()).unwrap();
        fs::write(&to, "of somebody else").unwrap();
        assert!(matches!(staged.put(), Err(DownloadTargetError::Exists(_))));
        assert!(matches!(place.check(), Err(DownloadTargetError::Exists(_))));
        assert_eq!(fs::read(&to).unwrap(), b"of somebody else");
        assert_eq!(names(dir.path()), ["f"]);
    }

    #[test]
    fn only_an_unchanged_file_is_replaced_after_a_confirmation() {
        let dir = tempfile::tempdir().unwrap();
        let [kept, changed, new] = ["kept", "changed", "new"].map(|name| dir.path().join(name));
        let stamp_of = |path: &Path| {
            fs::write(path, "old").unwrap();
            let stamp = crate::FileStamp::of(&fs::metadata(path).unwrap());
            (path.to_owned(), stamp)
        };
        let replace = Replace::Unchanged(Arc::new([stamp_of(&kept), stamp_of(&changed)].into()));
        let stage = |to| {
            let place = DownloadTarget {
                to,
                replace: replace.clone(),
                set_executable: &|_, _| Ok(()),
            };
            place.check().unwrap();
            place.stage(b"new", &manifest()).unwrap()
        };
        let staged = [&kept, &changed, &new].map(|path| stage(path));
        fs::write(&changed, "longer than before").unwrap();
        fs::write(&new, "of somebody else").unwrap();
        let [kept_put, changed_put, new_put] = staged.map(StagedFile::put);
        kept_put.unwrap();
        assert_eq!(fs::read(&kept).unwrap(), b"new");
        assert!(matches!(changed_put, Err(DownloadTargetError::Changed(_))));
        assert_eq!(fs::read(&changed).unwrap(), b"longer than before");
        assert!(matches!(new_put, Err(DownloadTargetError::Exists(_))));
        assert_eq!(fs::read(&new).unwrap(), b"of somebody else");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        for to in [&socket, &folder] {
            let place = DownloadTarget {
                to,
                replace: Replace::Anything,
                set_executable: &|_, _| Ok(()),
            };
            let staged = place.stage(b"new", &manifest()).unwrap();
            assert!(matches!(place.check(), Err(DownloadTargetError::NoFile(_))));
            assert!(matches!(staged.put(), Err(DownloadTargetError::NoFile(_))));
        }
        assert!(fs::symlink_metadata(&socket).is_ok_and(|meta| !meta.is_file()));
        assert_eq!(names(dir.path()).len(), 2);
    }

    #[test]
    fn nothing_is_left_of_a_file_that_could_not_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("f");
        let place = DownloadTarget {
            to: &to,
            replace: Replace::Nothing,
            set_executable: &|_, _| Err(io::Error::other("a bad disk")),
        };
        let error = place.stage(b"new", &manifest()).unwrap_err();
        assert!(error.to_string().contains("a bad disk"), "{error}");
        assert!(names(dir.path()).is_empty());
        let missing = dir.path().join("none/f");
        let place = DownloadTarget {
            to: &missing,
            ..place.clone()
        };
        let error = place.stage(b"new", &manifest()).unwrap_err();
        assert!(
            matches!(error, DownloadTargetError::Folder { .. }),
            "{error}"
        );
    }
}
