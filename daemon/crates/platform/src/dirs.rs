//! The paths of one installation's files (its *home*: configuration, data, logs, socket).
//!
//! Knows paths only; of these files it writes none but the marker file by which other installations recognise the
//! directory.

#[cfg(not(any(windows, target_os = "macos")))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod mark;
mod own_files;
#[cfg(unix)]
mod private;
#[cfg(windows)]
mod windows;

#[cfg(not(any(windows, target_os = "macos")))]
use linux as sys;
#[cfg(target_os = "macos")]
use macos as sys;
#[cfg(windows)]
use windows as sys;

pub use mark::{HOME_MARK, home_around, is_marked};
pub use own_files::is_state_file;

use crate::fnv::fnv1a_64;
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
    /// Returns the home at the path of the flag, else of `CAIRN_HOME`, else at the platform's default paths.
    ///
    /// # Errors
    /// `NotFound` if the user has no home directory.
    pub fn resolve(flag: Option<PathBuf>) -> io::Result<Self> {
        let chosen = flag.or_else(|| directory("CAIRN_HOME"));
        match chosen {
            Some(path) => Ok(Self::at(&std::path::absolute(path)?)),
            None => sys::default_home().ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::NotFound,
                    "this user has no home directory; choose a directory with --home DIR",
                )
            }),
        }
    }

    /// Returns the home with everything below one directory.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Self {
            config: dir.to_path_buf(),
            data: dir.to_path_buf(),
            state: dir.to_path_buf(),
            runtime: None,
        }
    }

    /// Makes the directories, closed to other users; takes the permissions of others from a home that
    /// exists, and from the files in it but the secrets.
    ///
    /// # Errors
    /// Returns the error of the file system, with the path.
    pub fn create(&self) -> io::Result<()> {
        for dir in [&self.config, &self.data, &self.logs_dir()] {
            create_private(dir)?;
        }
        #[cfg(unix)]
        private::close(self)?;
        mark::write_marks(self);
        Ok(())
    }

    /// Returns the places of this installation's files: its directories, or where one has another purpose
    /// too, each of the files in it. Both as they are configured and with symbolic links resolved.
    #[must_use]
    pub fn own_places(&self) -> Vec<PathBuf> {
        mark::own_places(self)
    }

    /// Returns the path of the user's settings.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the path of the index.
    #[must_use]
    pub fn index_file(&self) -> PathBuf {
        self.data.join("index.db")
    }

    /// Returns the path of the account's data; the file contains nothing secret.
    #[must_use]
    pub fn account_file(&self) -> PathBuf {
        self.data.join("account.json")
    }

    /// Returns the path of the secrets of an installation that doesn't use the keyring.
    #[must_use]
    pub fn secrets_file(&self) -> PathBuf {
        self.data.join("secrets.json")
    }

    /// Returns the directory of the logs.
    #[must_use]
    pub fn logs_dir(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Returns the directory of the journals of assistants' sessions.
    #[must_use]
    pub fn sessions_dir(&self) -> PathBuf {
        self.data_dir().join("sessions")
    }

    /// Returns the directory of assistants' tasks: long transfers, each in a process of its own.
    #[must_use]
    pub fn tasks_dir(&self) -> PathBuf {
        self.data_dir().join("tasks")
    }

    /// Returns the directory with a subdirectory for each team's space that folders are synced with.
    #[must_use]
    pub fn spaces_dir(&self) -> PathBuf {
        self.data.join("spaces")
    }

    /// Returns the path of the file that is locked while a daemon runs.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.data.join("daemon.lock")
    }

    /// Returns the directory that distinguishes this installation from others on the machine.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// Returns whether this is the installation at the platform's default paths.
    #[must_use]
    pub fn is_default(&self) -> bool {
        sys::default_home().is_some_and(|default| default == *self)
    }

    /// Returns 16 hexadecimal digits that are the same for the same home, on every run and build.
    #[must_use]
    pub fn tag(&self) -> String {
        let hash = fnv1a_64(self.data.as_os_str().as_encoded_bytes());
        format!("{hash:016x}")
    }

    /// Returns the path of the daemon's socket: in the runtime directory or beside the data, or if both
    /// paths are too long for a socket, in a private directory for temporary files.
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

/// Returns the user's home directory.
#[must_use]
pub fn user_home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Returns a path that a person wrote, with the user's home directory in place of a `~` at its beginning.
#[must_use]
pub fn expand_home(path: &str) -> PathBuf {
    let below = match path {
        "~" => Some(""),
        _ => path.strip_prefix("~/"),
    };
    match below.zip(user_home()) {
        Some((below, home)) => home.join(below),
        None => PathBuf::from(path),
    }
}

/// Returns the directory in which programs store this user's settings, each in a subdirectory.
#[must_use]
pub fn user_config() -> Option<PathBuf> {
    sys::user_config()
}

/// Makes a directory and its parents; the directory itself is closed to other users.
///
/// # Errors
/// Returns the error of the file system, with the path.
pub fn create_private(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(dir)
        .map_err(|e| crate::disk::in_context("make the directory", dir, e))
}

/// Returns the absolute path in an environment variable; relative ones are ignored, as XDG requires.
fn directory(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    let relative_allowed = variable == "CAIRN_HOME" && !path.as_os_str().is_empty();
    (path.is_absolute() || relative_allowed).then_some(path)
}

#[cfg(unix)]
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Pipes and directories belong to the user anyway on other systems.
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
    fn only_a_tilde_that_stands_for_the_home_is_expanded() {
        let home = user_home().unwrap();
        assert_eq!(expand_home("~"), home);
        assert_eq!(expand_home("~/a b/~"), home.join("a b/~"));
        for path in ["~other/a", "/a/~", "a", ""] {
            assert_eq!(expand_home(path), Path::new(path));
        }
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

    #[cfg(unix)]
    #[test]
    fn an_open_home_is_closed_with_its_own_files_only() {
        use std::fs::{Permissions, set_permissions, write};
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(&dir.path().join("home"));
        home.create().unwrap();
        let log = home.logs_dir().join("daemon.log");
        let own = [home.index_file(), home.config_file(), log];
        let (foreign, linked) = (home.data_dir().join("notes"), dir.path().join("linked"));
        let open = own.iter().chain([&foreign, &linked]);
        for path in open {
            write(path, "x").unwrap();
            set_permissions(path, Permissions::from_mode(0o644)).unwrap();
        }
        symlink(&linked, home.account_file()).unwrap();
        for path in [home.data_dir(), &home.logs_dir()] {
            set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        home.create().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        for path in &own {
            assert_eq!(mode(path), 0o600, "{}", path.display());
        }
        assert_eq!(mode(home.data_dir()), 0o700);
        assert_eq!(mode(&home.logs_dir()), 0o700);
        assert_eq!(mode(&foreign), 0o644, "the directory may have other files");
        assert_eq!(mode(&linked), 0o644, "links are not followed");
    }

    #[cfg(unix)]
    #[test]
    fn secrets_that_others_could_read_stay_refused() {
        use crate::secrets::{SecretsChoice, SecretsError, open};
        use std::fs::{Permissions, set_permissions, write};
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let secrets = home.secrets_file();
        write(&secrets, "{}").unwrap();
        set_permissions(&secrets, Permissions::from_mode(0o644)).unwrap();
        home.create().unwrap();
        let opened = open(&SecretsChoice::File(secrets), "test");
        assert!(matches!(
            opened.err(),
            Some(SecretsError::Exposed { mode: 0o644, .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn a_shared_directory_stays_shared() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
        Home::at(dir.path()).create().unwrap();
        let mode = std::fs::metadata(dir.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o1777);
    }
}
