//! The path on the service that a person means: as it is there, or by the file on this machine.

use crate::failure::{CommandResult, Failure};
use crate::folders::{open_index, remote_path};
use cairn_platform::Home;
use std::path::{Component, Path, PathBuf};

/// The folder pairs by which a local path is found on the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalPaths {
    home: Option<Home>,
}

impl LocalPaths {
    /// Looks into the folder pairs of a home.
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            home: Some(home.clone()),
        }
    }

    /// Returns the path on the service, in its one form. A path that begins with `/` is one of the service
    /// unless it lies in a synced folder of this machine; any other is taken from the working directory.
    pub(crate) fn remote_path(&self, text: &str) -> CommandResult<String> {
        let path = Path::new(text);
        if path.is_absolute() && !begins_locally(path) {
            return remote_path(text);
        }
        if let Some(remote) = self.in_a_pair(path)? {
            return Ok(remote);
        }
        if text.starts_with('/') {
            return remote_path(text);
        }
        Err(Failure::usage(format!(
            "`{text}` is neither in a synced folder nor a path on the service, which begins with `/`"
        )))
    }

    /// Returns the remote path of a local one, if it lies in a synced folder.
    fn in_a_pair(&self, path: &Path) -> CommandResult<Option<String>> {
        let Some(home) = &self.home else {
            return Ok(None);
        };
        if !home.index_file().exists() {
            return Ok(None);
        }
        let absolute = crate::local_path::file(path)?;
        let (index, _) = open_index(home)?;
        let rows = index.read(|db| db.folders())?;
        for row in rows {
            let resolved = absolute.canonicalize().ok();
            let of = |path: &PathBuf| path.strip_prefix(&row.root).map(Path::to_path_buf).ok();
            let Some(below) = of(&absolute).or_else(|| resolved.as_ref().and_then(of)) else {
                continue;
            };
            let below = below.to_str().ok_or_else(|| {
                Failure::usage(format!("{} is not valid UTF-8", absolute.display()))
            })?;
            let below = below.replace(std::path::MAIN_SEPARATOR, "/");
            return remote_path(&format!("{}/{below}", row.remote_path)).map(Some);
        }
        Ok(None)
    }
}

/// Returns whether the first folder of an absolute path exists on this machine.
fn begins_locally(path: &Path) -> bool {
    let first: PathBuf = path
        .components()
        .take_while(|part| !matches!(part, Component::CurDir | Component::ParentDir))
        .take(2)
        .collect();
    first.components().count() == 2 && first.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_index::FolderSettings;

    #[test]
    fn a_local_path_is_found_on_the_service() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("Shared");
        std::fs::create_dir(&root).unwrap();
        let home = Home::at(&dir.path().join("home"));
        let (index, _) = open_index(&home).unwrap();
        index
            .write(|db| {
                db.add_folder(
                    root.to_str().unwrap(),
                    "/shared",
                    &FolderSettings::default(),
                )
            })
            .unwrap();
        let paths = LocalPaths::of(&home);
        let remote = |text: &str| paths.remote_path(text).unwrap();
        let local = |below: &str| root.join(below).display().to_string();
        assert_eq!(remote(&local("a/gone.txt")), "/shared/a/gone.txt");
        assert_eq!(remote(root.to_str().unwrap()), "/shared");
        assert_eq!(remote("/no-such-folder-here//x/"), "/no-such-folder-here/x");
        // A folder of this machine that is not synced: the path is one of the service.
        assert_eq!(remote("/tmp/x"), "/tmp/x");
        let refused = paths.remote_path("not-synced/x").unwrap_err();
        assert!(
            refused.message.contains("neither in a synced folder"),
            "{refused}"
        );
    }

    #[test]
    fn without_a_home_every_path_is_one_of_the_service() {
        let paths = LocalPaths::default();
        assert_eq!(paths.remote_path("/tmp/x").unwrap(), "/tmp/x");
        assert!(paths.remote_path("x").is_err());
    }
}
