//! Assistants' tasks (long transfers) in the installation's directory: the state of each in a file that only the owner
//! can read, a lock that its process holds, and a mark by which that process is requested to stop.

use super::sessions::lock_soon;
use crate::logging;
use cairn_mcp::{StoredTask, TASK_KEPT_FOR, TaskFiles, TaskProcess};
use cairn_platform::dirs::create_private;
use cairn_platform::{FileMode, Home, process, write_atomic};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;
use uuid::{Builder, Uuid};

/// The line by which the process of a task says that it has begun.
pub(super) const READY: &str = "ready";

/// The extensions of the files of a task.
const STATE: &str = "json";
const LOCK: &str = "lock";
const STOP: &str = "stop";

/// The number of ended tasks that are kept.
const KEPT: usize = 100;
/// The number of tasks that run at once: each is a process.
const MOST_RUNNING: usize = 8;

pub(super) struct HomeTasks {
    home: Home,
}

impl HomeTasks {
    pub(super) fn new(home: Home) -> Self {
        Self { home }
    }

    /// Removes the tasks that ended long ago, and those beyond the newest.
    pub(super) fn forget_old(&self) {
        match self.all() {
            Ok(tasks) => self.forget_old_of(&tasks),
            Err(error) => tracing::warn!(%error, "the tasks can't be listed"),
        }
    }

    fn forget_old_of(&self, tasks: &[KeptTask]) {
        let ended = tasks.iter().filter(|task| !task.is_running);
        for (newer, task) in ended.enumerate() {
            if newer >= KEPT || task.modified.elapsed().unwrap_or_default() > TASK_KEPT_FOR {
                self.remove(&task.id);
            }
        }
    }

    /// Locks a task for as long as the file is open: this process works on it.
    ///
    /// # Errors
    /// The error of the file system; `WouldBlock` if another process does.
    pub(super) fn hold(&self, id: &str) -> io::Result<File> {
        let path = self.path(id, LOCK)?;
        if !path.exists() {
            write_atomic(&path, b"", FileMode::Private)?;
        }
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        // Another process that looks for tasks holds it for a moment.
        lock_soon(&file)?;
        Ok(file)
    }

    /// Returns the path of a file of a task. An id that is not written as ours are names none.
    fn path(&self, id: &str, extension: &str) -> io::Result<PathBuf> {
        let uuid: Uuid = id.parse().map_err(|_| ErrorKind::NotFound)?;
        if uuid.to_string() != id {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(self.home.tasks_dir().join(format!("{id}.{extension}")))
    }

    fn is_running(&self, id: &str) -> bool {
        let path = self.path(id, LOCK);
        path.is_ok_and(|path| is_held(&path))
    }

    /// Returns the tasks that are kept, the last written one first.
    fn all(&self) -> io::Result<Vec<KeptTask>> {
        let entries = match std::fs::read_dir(self.home.tasks_dir()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut tasks = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let id = path.file_stem().and_then(|stem| stem.to_str());
            if let Some(id) = id.filter(|_| path.extension().is_some_and(|found| found == STATE)) {
                let modified = std::fs::metadata(&path).and_then(|meta| meta.modified());
                tasks.push(KeptTask {
                    id: id.to_owned(),
                    modified: modified.unwrap_or(UNIX_EPOCH),
                    is_running: self.is_running(id),
                });
            }
        }
        tasks.sort_by_key(|task| std::cmp::Reverse(task.modified));
        Ok(tasks)
    }
}

struct KeptTask {
    id: String,
    modified: SystemTime,
    is_running: bool,
}

/// Returns whether a process holds the lock. Looking at one that is free takes it for a moment.
fn is_held(path: &Path) -> bool {
    let locked = File::open(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

impl TaskFiles for HomeTasks {
    fn new_id(&self) -> String {
        let id = Builder::from_random_bytes(cairn_space::random_id());
        id.into_uuid().to_string()
    }

    fn write(&self, id: &str, state: &str) -> io::Result<()> {
        let dir = self.home.tasks_dir();
        if !dir.is_dir() {
            // With an API key there may be no home yet.
            self.home.create()?;
            create_private(&dir)?;
        }
        write_atomic(&self.path(id, STATE)?, state.as_bytes(), FileMode::Private)
    }

    fn read(&self, id: &str) -> io::Result<Option<StoredTask>> {
        // The lock first: a process that has ended wrote its last state before it let the lock go.
        let is_running = self.is_running(id);
        let state = self.path(id, STATE).and_then(std::fs::read_to_string);
        match state {
            Ok(state) => Ok(Some(StoredTask { state, is_running })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn remove(&self, id: &str) {
        for extension in [STATE, STOP, LOCK] {
            let removed = self.path(id, extension).and_then(std::fs::remove_file);
            if let Err(error) = removed
                && error.kind() != ErrorKind::NotFound
            {
                tracing::warn!(%error, "a file of a task can't be removed");
            }
        }
    }

    fn request_stop(&self, id: &str) -> io::Result<()> {
        write_atomic(&self.path(id, STOP)?, b"", FileMode::Private)
    }

    fn is_stop_requested(&self, id: &str) -> bool {
        self.path(id, STOP).is_ok_and(|path| path.exists())
    }

    fn start(&self, id: &str, call: String) -> io::Result<TaskProcess> {
        let tasks = self.all()?;
        if tasks.iter().filter(|task| task.is_running).count() >= MOST_RUNNING {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.forget_old_of(&tasks);
        self.home.create()?;
        let exe = std::env::current_exe()?;
        let args: [OsString; 5] = [
            "--home".into(),
            self.home.data_dir().into(),
            "mcp".into(),
            "run-task".into(),
            id.into(),
        ];
        let args = if self.home.is_default() {
            &args[2..]
        } else {
            &args[..]
        };
        let log = self.home.logs_dir().join(logging::TASK_ERRORS);
        Ok(follow(process::spawn_worker(&exe, args, &log)?, call))
    }
}

/// Gives a process its call and says when it has begun and ended, from a thread that nobody waits for.
fn follow(mut child: Child, call: String) -> TaskProcess {
    let (is_ready, ready) = oneshot::channel();
    let (has_ended, ended) = oneshot::channel();
    std::thread::spawn(move || {
        if begin(&mut child, &call).unwrap_or(false) {
            // The receiver may have given up.
            let _ = is_ready.send(());
        } else {
            drop(is_ready);
        }
        if let Err(error) = child.wait() {
            tracing::warn!(%error, "the process of a task can't be waited for");
        }
        let _ = has_ended.send(());
    });
    TaskProcess { ready, ended }
}

/// Returns whether the process has read its call and begun.
fn begin(child: &mut Child, call: &str) -> io::Result<bool> {
    let mut input = child.stdin.take().ok_or(ErrorKind::BrokenPipe)?;
    input.write_all(call.as_bytes())?;
    drop(input);
    let output = child.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    Ok(line.trim_end() == READY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn tasks(dir: &Path) -> HomeTasks {
        HomeTasks::new(Home::at(dir))
    }

    #[test]
    fn a_task_runs_as_long_as_its_process_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let (own, other) = (tasks(dir.path()), tasks(dir.path()));
        let id = own.new_id();
        assert!(other.read(&id).unwrap().is_none());
        own.write(&id, "begun").unwrap();
        let held = own.hold(&id).unwrap();
        assert!(other.read(&id).unwrap().unwrap().is_running);
        own.write(&id, "done").unwrap();
        drop(held);
        let stored = other.read(&id).unwrap().unwrap();
        assert_eq!((stored.state.as_str(), stored.is_running), ("done", false));
        other.request_stop(&id).unwrap();
        assert!(own.is_stop_requested(&id));
        other.remove(&id);
        assert!(own.read(&id).unwrap().is_none() && !own.is_stop_requested(&id));
        assert_eq!(
            std::fs::read_dir(dir.path().join("tasks")).unwrap().count(),
            0
        );
    }

    #[test]
    fn an_id_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let tasks = tasks(dir.path());
        let id = tasks.new_id();
        tasks.write(&id, "begun").unwrap();
        assert_eq!(id.parse::<Uuid>().unwrap().get_version_num(), 4);
        std::fs::write(dir.path().join("config.json"), "{}").unwrap();
        for other in ["../config", "", &id.to_uppercase(), &id.replace('-', "")] {
            assert!(tasks.read(other).unwrap().is_none(), "{other}");
            assert!(tasks.write(other, "x").is_err(), "{other}");
            assert!(tasks.request_stop(other).is_err(), "{other}");
        }
    }

    #[test]
    fn tasks_that_ended_long_ago_are_forgotten_and_running_ones_kept() {
        let dir = tempfile::tempdir().unwrap();
        let tasks = tasks(dir.path());
        let long_ago = SystemTime::now() - TASK_KEPT_FOR - Duration::from_secs(60);
        let age = |id: &str| {
            let path = tasks.path(id, STATE).unwrap();
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_modified(long_ago).unwrap();
        };
        let [running, ended, new] = [(); 3].map(|()| tasks.new_id());
        for id in [&running, &ended, &new] {
            tasks.write(id, "state").unwrap();
        }
        let _held = tasks.hold(&running).unwrap();
        age(&running);
        age(&ended);
        tasks.forget_old();
        let is_there = |id: &str| tasks.read(id).unwrap().is_some();
        assert!(is_there(&running) && is_there(&new));
        assert!(!is_there(&ended));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let tasks = tasks(dir.path());
        let id = tasks.new_id();
        tasks.write(&id, "begun").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        drop(tasks.hold(&id).unwrap());
        tasks.request_stop(&id).unwrap();
        for extension in [STATE, LOCK, STOP] {
            assert_eq!(mode(&tasks.path(&id, extension).unwrap()), 0o600);
        }
        assert_eq!(mode(&dir.path().join("tasks")), 0o700);
    }
}
