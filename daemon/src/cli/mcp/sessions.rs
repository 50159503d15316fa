//! The journals of assistants' sessions (what their tools changed, for undo), in the installation's directory:
//! one file for each, which only the owner can read, locked while its process runs.

use cairn_mcp::{EndedSession, SessionFiles};
use cairn_platform::{FileMode, Home, write_atomic};
use cairn_wire::Timestamp;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use uuid::Uuid;

const EXTENSION: &str = "jsonl";
/// Some ten thousand changes.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Older sessions are forgotten, and those beyond the newest.
const KEPT_FOR: Duration = Duration::from_secs(14 * 24 * 3600);
const KEPT: usize = 50;
/// The longest wait for another process that reads or writes a journal.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const LOCK_STEP: Duration = Duration::from_millis(5);

pub(super) struct HomeSessions {
    home: Home,
    id: Uuid,
    /// The file of this session, once it has changed something.
    file: Mutex<Option<File>>,
    /// The sessions of which it is known that their processes have ended.
    ended: Mutex<HashSet<String>>,
}

impl HomeSessions {
    pub(super) fn new(home: Home) -> Self {
        Self {
            home,
            id: Uuid::from_bytes(cairn_space::random_id()),
            file: Mutex::new(None),
            ended: Mutex::default(),
        }
    }

    fn dir(&self) -> PathBuf {
        self.home.sessions_dir()
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
        let file = OpenOptions::new().read(true).append(true).open(&path)?;
        // Another process that lists the sessions holds it for a moment.
        lock_soon(&file)?;
        Ok(file)
    }

    /// Removes the files of sessions that nobody will take back any more.
    fn forget_old(&self) {
        let Ok(files) = self.ended_files() else {
            return;
        };
        for (number, (path, modified)) in files.iter().enumerate() {
            if !is_kept(number, *modified)
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

/// Returns whether a session that was modified then, and with this number of newer ones, is kept.
fn is_kept(newer: usize, modified: SystemTime) -> bool {
    newer < KEPT && modified.elapsed().unwrap_or_default() <= KEPT_FOR
}

/// Returns the lines of a file whose process has ended; `None` while a process holds it, or is about to. A line
/// that is not text is left out.
fn read_ended(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines: Vec<_> = lines
        .filter_map(|line| std::str::from_utf8(line).ok())
        .collect();
    Ok(Some(lines.join("\n")))
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
            Some(file) if file.metadata()?.len() > MAX_BYTES => {
                Err(io::ErrorKind::FileTooLarge.into())
            }
            Some(file) => write_line(file, line),
            None => Ok(()),
        }
    }

    fn ended_sessions(&self) -> io::Result<Vec<EndedSession>> {
        let mut ended = Vec::new();
        for (newer, (path, modified)) in self.ended_files()?.into_iter().enumerate() {
            if !is_kept(newer, modified) {
                break;
            }
            let lines = read_ended(&path).unwrap_or_else(|error| {
                tracing::warn!(%error, path = %path.display(), "a journal can't be read");
                None
            });
            if let Some(lines) = lines
                && let Some(id) = path.file_stem().and_then(|stem| stem.to_str())
            {
                let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
                let ms = i64::try_from(since.as_millis()).unwrap_or_default();
                self.ended.lock().insert(id.to_owned());
                ended.push(EndedSession {
                    id: id.to_owned(),
                    at: Timestamp(ms),
                    lines,
                });
            }
        }
        Ok(ended)
    }

    fn append_undone(&self, session: Option<&str>, line: &str) -> io::Result<()> {
        let Some(session) = session else {
            return match self.file.lock().as_mut() {
                Some(file) => write_line(file, line),
                None => Ok(()),
            };
        };
        if !self.ended.lock().contains(session) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(self.path(session))?;
        // Its process is gone: others hold it for a moment only.
        lock_soon(&file)?;
        let modified = file.metadata()?.modified()?;
        write_line(&mut file, line)?;
        // The session ended then, whenever it is taken back.
        if let Err(error) = file.set_modified(modified) {
            tracing::debug!(%error, "a journal's time can't be set");
        }
        Ok(())
    }
}

/// Locks a file that others hold for moments. One that holds it for longer is stopped or hangs, and must not hold up
/// this process as well.
pub(super) fn lock_soon(file: &File) -> io::Result<()> {
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(LOCK_STEP),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
}

/// Writes a line. One that a killed process left without an end does not swallow it.
fn write_line(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(format!("\n{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(dir: &Path) -> HomeSessions {
        HomeSessions::new(Home::at(dir))
    }

    fn ended_lines(sessions: &HomeSessions) -> Vec<String> {
        let ended = sessions.ended_sessions().unwrap();
        ended.into_iter().map(|session| session.lines).collect()
    }

    #[test]
    fn a_session_is_another_ones_to_take_back_once_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (sessions(dir.path()), sessions(dir.path()));
        let id = first.id.to_string();
        assert_eq!(ended_lines(&second), Vec::<String>::new());
        first.append("one").unwrap();
        first.append("two").unwrap();
        assert_eq!(ended_lines(&second), Vec::<String>::new(), "it runs");
        assert!(second.append_undone(Some(&id), "no").is_err());
        drop(first);
        assert_eq!(ended_lines(&second), ["\none\n\ntwo\n"]);
        second.append_undone(Some(&id), "three").unwrap();
        assert_eq!(ended_lines(&second), ["\none\n\ntwo\n\nthree\n"]);
        assert!(second.append_undone(Some("../config"), "no").is_err());
    }

    #[test]
    fn taking_back_waits_for_others_and_leaves_the_time_of_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (sessions(dir.path()), sessions(dir.path()));
        let id = first.id.to_string();
        first.append("one").unwrap();
        let path = first.path(&id);
        drop(first);
        let file = File::options().write(true).open(&path).unwrap();
        let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
        file.set_modified(yesterday).unwrap();
        let at = |sessions: &HomeSessions| sessions.ended_sessions().unwrap()[0].at;
        let before = at(&second);
        // Another process lists the sessions for a moment.
        file.lock_shared().unwrap();
        std::thread::scope(|scope| {
            let undone = scope.spawn(|| second.append_undone(Some(&id), "taken back"));
            file.unlock().unwrap();
            undone.join().unwrap().unwrap();
        });
        assert!(ended_lines(&second)[0].contains("taken back"));
        assert_eq!(at(&second), before);
    }

    #[test]
    fn a_journal_that_stays_held_is_an_error_and_no_hang() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (sessions(dir.path()), sessions(dir.path()));
        let id = first.id.to_string();
        first.append("one").unwrap();
        drop(first);
        assert_eq!(ended_lines(&second).len(), 1);
        let held = File::open(second.path(&id)).unwrap();
        held.lock_shared().unwrap();
        let refused = second.append_undone(Some(&id), "taken back").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_full_journal_takes_what_was_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let session = sessions(dir.path());
        session.append("one").unwrap();
        let path = session.path(&session.id.to_string());
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        assert!(session.append("a change").is_err());
        session.append_undone(None, "taken back").unwrap();
        assert_eq!(
            file.metadata().unwrap().len(),
            MAX_BYTES + 1 + "\ntaken back\n".len() as u64
        );
    }

    #[test]
    fn a_torn_line_hides_no_other_one() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (sessions(dir.path()), sessions(dir.path()));
        first.append("one").unwrap();
        let path = first.path(&first.id.to_string());
        drop(first);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"half of \xc3").unwrap();
        write_line(&mut file, "two").unwrap();
        assert_eq!(ended_lines(&second), ["\none\ntwo\n"]);
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
        assert!(ended_lines(&new).is_empty(), "it is not offered any more");
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
