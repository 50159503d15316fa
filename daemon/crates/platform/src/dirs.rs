//! Where one installation of Cairn keeps its files.
//!
//! Knows names and places only; reads and writes none of these files.

use std::io;
use std::path::{Path, PathBuf};

/// The longest path a Unix socket can have: `sun_path` has 104 bytes on macOS, 108 on Linux, with the
/// closing NUL.
const MAX_SOCKET_PATH: usize = 103;

/// The files of one installation; several of them on one machine are several devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Home {
    config: PathBuf,
    data: PathBuf,
    state: PathBuf,
    runtime: Option<PathBuf>,
}

impl Home {
    /// Takes the directory from the flag, else from `CAIRN_HOME`, else the platform's own directories.
    ///
    /// # Errors
    /// `NotFound` where the platform's directories can't be told because the user has no home.
    pub fn resolve(flag: Option<PathBuf>) -> io::Result<Self> {
        let chosen = flag.or_else(|| directory("CAIRN_HOME"));
        match chosen {
            Some(path) => Ok(Self::at(&std::path::absolute(path)?)),
            None => Self::of_platform().ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::NotFound,
                    "this user has no home directory; say where to keep things with --home DIR",
                )
            }),
        }
    }

    /// Everything below one directory.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Self {
            config: dir.to_path_buf(),
            data: dir.to_path_buf(),
            state: dir.to_path_buf(),
            runtime: None,
        }
    }

    #[cfg(not(any(windows, target_os = "macos")))]
    fn of_platform() -> Option<Self> {
        // The XDG Base Directory Specification, version 0.8.
        let user = std::env::home_dir()?;
        let place = |variable, default: &str| {
            directory(variable)
                .unwrap_or_else(|| user.join(default))
                .join("cairn")
        };
        Some(Self {
            config: place("XDG_CONFIG_HOME", ".config"),
            data: place("XDG_DATA_HOME", ".local/share"),
            state: place("XDG_STATE_HOME", ".local/state"),
            runtime: directory("XDG_RUNTIME_DIR").map(|dir| dir.join("cairn")),
        })
    }

    #[cfg(target_os = "macos")]
    fn of_platform() -> Option<Self> {
        let library = std::env::home_dir()?.join("Library");
        let data = library.join("Application Support/Cairn");
        Some(Self {
            config: data.clone(),
            data,
            state: library.join("Logs/Cairn"),
            runtime: None,
        })
    }

    #[cfg(windows)]
    fn of_platform() -> Option<Self> {
        let local = directory("LOCALAPPDATA")?.join("Cairn");
        Some(Self {
            config: directory("APPDATA")?.join("Cairn"),
            data: local.clone(),
            state: local,
            runtime: None,
        })
    }

    /// Makes the directories, readable by this user only.
    ///
    /// # Errors
    /// The file system's, with the path.
    pub fn create(&self) -> io::Result<()> {
        for dir in [&self.config, &self.data, &self.logs_dir()] {
            create_private(dir)?;
        }
        Ok(())
    }

    /// The user's settings.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The index of all folders.
    #[must_use]
    pub fn index_file(&self) -> PathBuf {
        self.data.join("index.db")
    }

    /// Who is logged in where; holds nothing secret.
    #[must_use]
    pub fn account_file(&self) -> PathBuf {
        self.data.join("account.json")
    }

    /// The secrets of an installation that doesn't use the keyring.
    #[must_use]
    pub fn secrets_file(&self) -> PathBuf {
        self.data.join("secrets.json")
    }

    #[must_use]
    pub fn logs_dir(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Locked while a daemon runs.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.data.join("daemon.lock")
    }

    /// The directory that tells this installation from others on the machine.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// Tells whether this is the installation at the platform's own places.
    #[must_use]
    pub fn is_default(&self) -> bool {
        Self::of_platform().is_some_and(|default| default == *self)
    }

    /// Eight bytes in hexadecimal that are the same for the same home, on every run and build.
    #[must_use]
    pub fn tag(&self) -> String {
        // FNV-1a, 64 bit: stable across builds, unlike the standard library's hasher.
        let hash = self
            .data
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!("{hash:016x}")
    }

    /// The socket of the daemon: in the runtime directory or beside the data, or where both paths are
    /// too long for a socket, in a private directory for temporary files.
    #[must_use]
    pub fn socket_path(&self) -> PathBuf {
        let preferred = self
            .runtime
            .as_ref()
            .unwrap_or(&self.data)
            .join("daemon.sock");
        if preferred.as_os_str().len() <= MAX_SOCKET_PATH {
            return preferred;
        }
        let base = directory("XDG_RUNTIME_DIR")
            .map(|dir| dir.join("cairn"))
            .filter(|dir| dir.as_os_str().len() + 24 <= MAX_SOCKET_PATH)
            .unwrap_or_else(|| PathBuf::from(format!("/tmp/cairn-{}", user_id())));
        base.join(format!("{}.sock", self.tag()))
    }
}

/// The user's home.
#[must_use]
pub fn user_home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Where other programs keep this user's settings, each in a directory of its own.
#[must_use]
pub fn user_config() -> Option<PathBuf> {
    #[cfg(windows)]
    return directory("APPDATA");
    #[cfg(target_os = "macos")]
    return Some(user_home()?.join("Library/Application Support"));
    #[cfg(not(any(windows, target_os = "macos")))]
    Some(directory("XDG_CONFIG_HOME").unwrap_or(user_home()?.join(".config")))
}

/// Makes a directory and its parents; the directory itself is closed to other users.
///
/// # Errors
/// The file system's, with the path.
pub fn create_private(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(dir)
        .map_err(|e| crate::disk::in_context("make the directory", dir, e))
}

/// An absolute path from an environment variable; relative ones are to be ignored, says XDG.
fn directory(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    let relative_allowed = variable == "CAIRN_HOME" && !path.as_os_str().is_empty();
    (path.is_absolute() || relative_allowed).then_some(path)
}

#[cfg(unix)]
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Pipes and directories belong to the user anyway there.
#[cfg(not(unix))]
pub(crate) fn user_id() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_holds_everything_below_one_directory() {
        let home = Home::resolve(Some(PathBuf::from("/somewhere/else"))).unwrap();
        for path in [
            home.config_file(),
            home.index_file(),
            home.account_file(),
            home.secrets_file(),
            home.logs_dir(),
            home.lock_file(),
            home.socket_path(),
        ] {
            assert!(path.starts_with("/somewhere/else"), "{}", path.display());
        }
        assert!(!home.is_default());
    }

    #[test]
    fn a_home_with_a_long_path_still_gets_a_short_socket() {
        let long = PathBuf::from(format!("/tmp/{}", "x".repeat(120)));
        let other = PathBuf::from(format!("/tmp/{}", "y".repeat(120)));
        let socket = Home::at(&long).socket_path();
        assert!(socket.as_os_str().len() <= MAX_SOCKET_PATH);
        assert_ne!(socket, Home::at(&other).socket_path());
        assert_eq!(socket, Home::at(&long).socket_path());
    }

    #[cfg(unix)]
    #[test]
    fn the_directories_are_closed_to_others() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("a/b"));
        home.create().unwrap();
        let mode = std::fs::metadata(dir.path().join("a/b"))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
        assert!(home.logs_dir().is_dir());
    }
}
