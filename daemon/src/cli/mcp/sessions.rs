//! The journals of assistants' sessions, in the home: one file for each, that only the owner reads, locked while
//! its process runs.

use crate::output::text::rfc3339;
use cairn_mcp::{EndedSession, SessionFiles};
use cairn_platform::{FileMode, Home, write_atomic};
use parking_lot::Mutex;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The directory's name in the data directory.
const DIR: &str = "sessions";
const EXTENSION: &str = "jsonl";
/// Some ten thousand changes.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Older sessions are forgotten, and those beyond the newest.
const KEPT_FOR: Duration = Duration::from_secs(14 * 24 * 3600);
const KEPT: usize = 50;

pub(super) struct HomeSessions {
    home: Home,
    id: Uuid,
    /// This session's file, once it has changed something.
    file: Mutex<Option<File>>,
}

impl HomeSessions {
    pub(super) fn new(home: Home) -> Self {
        Self {
            home,
            id: Uuid::from_bytes(cairn_space::random_id()),
            file: Mutex::new(None),
        }
    }

    fn dir(&self) -> PathBuf {
        self.home.data_dir().join(DIR)
    }

    fn path(&self, session: &str) -> PathBuf {
        self.dir().join(format!("{session}.{EXTENSION}"))
    }

    /// Makes this session's file and locks it for as long as the process runs.
    fn begin(&self) -> io::Result<File> {
        // With an API key there may be no home yet.
        self.home.create().map_err(io::Error::other)?;
        let dir = self.dir();
        std::fs::create_dir_all(&dir)?;
        self.forget_old();
        let path = self.path(&self.id.to_string());
        write_atomic(&path, b"", FileMode::Private)?;
        let file = OpenOptions::new().append(true).open(&path)?;
        // Another process that lists the sessions holds it for a moment.
        file.lock()?;
        Ok(file)
    }

    /// Removes the files of sessions that nobody will take back any more.
    fn forget_old(&self) {
        let Ok(files) = self.ended_files() else {
            return;
        };
        for (number, (path, modified)) in files.iter().enumerate() {
            let age = modified.elapsed().unwrap_or_default();
            if (number >= KEPT || age > KEPT_FOR)
                && let Err(error) = std::fs::remove_file(path)
            {
                tracing::warn!(%error, path = %path.display(), "an old journal can't be removed");
            }
        }
    }

    /// Returns the files whose process has ended, the last written one first.
    fn ended_files(&self) -> io::Result<Vec<(PathBuf, SystemTime)>> {
        let entries = match std::fs::read_dir(self.dir()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|found| found == EXTENSION) && has_ended(&path) {
                let modified = std::fs::metadata(&path).and_then(|meta| meta.modified());
                files.push((path, modified.unwrap_or(UNIX_EPOCH)));
            }
        }
        files.sort_by_key(|(_, modified)| std::cmp::Reverse(*modified));
        Ok(files)
    }
}

/// Returns whether no process holds the file; one that can't be opened counts as held.
fn has_ended(path: &Path) -> bool {
    let locked = File::open(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Ok(())))
}

impl SessionFiles for HomeSessions {
    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = self.file.lock();
        if file.is_none() {
            *file = Some(self.begin()?);
        }
        match file.as_mut() {
            Some(file) => write_line(file, line),
            None => Ok(()),
        }
    }

    fn ended(&self) -> io::Result<Vec<EndedSession>> {
        let files = self.ended_files()?;
        let read = files.into_iter().filter_map(|(path, modified)| {
            let id = path.file_stem()?.to_str()?.to_owned();
            let since = modified.duration_since(UNIX_EPOCH).ok()?;
            Some(EndedSession {
                id,
                at: rfc3339(i64::try_from(since.as_millis()).ok()?),
                lines: std::fs::read_to_string(&path).ok()?,
            })
        });
        Ok(read.collect())
    }

    fn append_to(&self, session: &str, line: &str) -> io::Result<()> {
        let known = self.ended_files()?;
        let path = self.path(session);
        if !known.iter().any(|(known, _)| *known == path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut file = OpenOptions::new().append(true).open(path)?;
        match file.try_lock() {
            Ok(()) => write_line(&mut file, line),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Writes a line. One that a killed process left without an end does not swallow it.
fn write_line(file: &mut File, line: &str) -> io::Result<()> {
    if file.metadata()?.len() > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    file.write_all(format!("\n{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(dir: &Path) -> HomeSessions {
        HomeSessions::new(Home::at(dir))
    }

    fn ended(sessions: &HomeSessions) -> Vec<String> {
        let ended = sessions.ended().unwrap();
        ended.into_iter().map(|session| session.lines).collect()
    }

    #[test]
    fn a_session_is_another_ones_to_take_back_once_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (sessions(dir.path()), sessions(dir.path()));
        let id = first.id.to_string();
        assert_eq!(ended(&second), Vec::<String>::new());
        first.append("one").unwrap();
        first.append("two").unwrap();
        assert_eq!(ended(&second), Vec::<String>::new(), "it runs");
        assert!(second.append_to(&id, "no").is_err());
        drop(first);
        assert_eq!(ended(&second), ["\none\n\ntwo\n"]);
        second.append_to(&id, "three").unwrap();
        assert_eq!(ended(&second), ["\none\n\ntwo\n\nthree\n"]);
        assert!(second.append_to("../config", "no").is_err());
    }

    #[test]
    fn old_sessions_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let old = sessions(dir.path());
        old.append("one").unwrap();
        let path = old.path(&old.id.to_string());
        let file = File::options().write(true).open(&path).unwrap();
        let long_ago = SystemTime::now() - KEPT_FOR - Duration::from_secs(60);
        file.set_modified(long_ago).unwrap();
        drop((old, file));
        let new = sessions(dir.path());
        assert_eq!(ended(&new).len(), 1);
        new.append("two").unwrap();
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let session = sessions(dir.path());
        session.append("one").unwrap();
        let path = session.path(&session.id.to_string());
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
