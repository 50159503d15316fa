//! The local files of the tools: which folders they may use, and what differs between systems.

use crate::app::App;
use crate::failure::{CommandResult, Failure};
use crate::folders::{pairs, spaces};
use cairn_mcp::LocalFiles;
use cairn_model::Name;
use cairn_platform::{Disk as _, Home, RealDisk, dirs, names};
use std::io;
use std::path::{Path, PathBuf};

/// The disk of this machine.
pub(super) struct Disk {
    home: Home,
    /// The folders named by the user; empty for the defaults.
    named: Vec<PathBuf>,
}

impl Disk {
    pub(super) fn new(app: &App, flags: Vec<PathBuf>) -> CommandResult<Self> {
        let named = if flags.is_empty() {
            let listed = super::variable("CAIRN_MCP_ALLOW_DIRS")?.unwrap_or_default();
            let listed = std::env::split_paths(&listed);
            listed.filter(|dir| !dir.as_os_str().is_empty()).collect()
        } else {
            flags
        };
        // It is never allowed: left out, it would leave nothing that is.
        if let Some(dir) = named.iter().find(|dir| is_whole_disk(dir)) {
            return Err(Failure::usage(format!(
                "tools can't be given the whole disk ({}): name the folders that they may use",
                dir.display()
            )));
        }
        Ok(Self {
            home: app.home.clone(),
            named,
        })
    }

    /// Returns the folders of this device's pairs. A home without an index has none.
    fn synced_folders(&self) -> Vec<PathBuf> {
        if !self.home.index_file().exists() {
            return Vec::new();
        }
        let pairs = spaces::open_usable(&self.home).and_then(|(all, _)| pairs::list(&all));
        match pairs {
            Ok(pairs) => pairs.into_iter().map(|pair| pair.row.root.into()).collect(),
            Err(error) => {
                tracing::warn!(%error, "the synced folders can't be read");
                Vec::new()
            }
        }
    }
}

impl LocalFiles for Disk {
    fn executable(&self, path: &Path) -> Option<bool> {
        RealDisk::new().stat(path).ok()?.executable
    }

    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<()> {
        RealDisk::new().set_executable(path, executable).map(drop)
    }

    fn sync_all(&self, dir: &Path) -> io::Result<()> {
        RealDisk::new().sync_all(dir)
    }

    fn check_name(&self, name: &Name) -> Result<(), String> {
        names::check_name(name).map_err(|problem| problem.to_string())
    }

    fn allowed_dirs(&self) -> Vec<PathBuf> {
        if !self.named.is_empty() {
            return self.named.clone();
        }
        let mut dirs = self.synced_folders();
        dirs.extend(downloads());
        dirs.push(std::env::temp_dir());
        dirs
    }

    fn private_dirs(&self) -> Vec<PathBuf> {
        let files = [self.home.config_file(), self.home.index_file()];
        let parents = files.iter().filter_map(|file| file.parent());
        let mut dirs: Vec<_> = parents.map(Path::to_path_buf).collect();
        dirs.push(self.home.data_dir().to_path_buf());
        dirs.push(self.home.logs_dir());
        dirs
    }

    fn private_mark(&self) -> &'static str {
        dirs::HOME_MARK
    }

    fn allows_client_roots(&self) -> bool {
        self.named.is_empty()
    }
}

/// Returns true for a path that leads to the root of a file system's names, such as `/`.
fn is_whole_disk(dir: &Path) -> bool {
    let resolved = std::fs::canonicalize(dir);
    let dir = resolved.as_deref().unwrap_or(dir);
    dir.has_root() && dir.parent().is_none()
}

/// Returns the user's downloads folder, as the desktop names it.
fn downloads() -> Option<PathBuf> {
    let home = dirs::user_home()?;
    let listed = dirs::user_config().map(|config| config.join("user-dirs.dirs"));
    let listed = listed.and_then(|file| std::fs::read_to_string(file).ok());
    let named = listed.and_then(|text| downloads_in(&text, &home));
    Some(named.unwrap_or_else(|| home.join("Downloads")))
}

/// Finds the downloads folder in the text of `user-dirs.dirs` (xdg-user-dirs 0.18).
fn downloads_in(text: &str, home: &Path) -> Option<PathBuf> {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("XDG_DOWNLOAD_DIR="))?;
    let path = line.trim().trim_matches('"');
    let path = match path.strip_prefix("$HOME/") {
        Some(below) => home.join(below),
        None => PathBuf::from(path),
    };
    // A folder that was removed is set to the home itself.
    (path.is_absolute() && path != home && path != home.join("")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_whole_disk_is_recognized_however_it_is_written() {
        for whole in ["/", "//", "/tmp/.."] {
            assert!(is_whole_disk(Path::new(whole)), "{whole}");
        }
        for part in ["/tmp", "relative", "/nowhere/at/all"] {
            assert!(!is_whole_disk(Path::new(part)), "{part}");
        }
    }

    #[test]
    fn the_downloads_folder_is_the_one_of_the_desktop() {
        let home = Path::new("/home/me");
        for (text, found) in [
            (
                "XDG_DOWNLOAD_DIR=\"$HOME/Geladen\"",
                Some("/home/me/Geladen"),
            ),
            ("# x\n XDG_DOWNLOAD_DIR=\"/data/in\"\n", Some("/data/in")),
            ("XDG_DOWNLOAD_DIR=\"$HOME/\"", None),
            ("XDG_MUSIC_DIR=\"$HOME/Music\"", None),
        ] {
            assert_eq!(downloads_in(text, home), found.map(PathBuf::from), "{text}");
        }
    }
}
