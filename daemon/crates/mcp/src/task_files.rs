//! The place of tasks (long transfers, each in a process of its own), which the program that serves assistants has to
//! give: their states outlive every process.

use std::io;
use std::time::Duration;
use tokio::sync::oneshot;

/// The time for which an ended task is kept.
pub const TASK_KEPT_FOR: Duration = Duration::from_secs(24 * 3600);

/// The states of tasks, and the processes that do their work.
pub trait TaskFiles: Send + Sync {
    /// Returns a new id that nobody can guess.
    fn new_id(&self) -> String;

    /// Writes the state of a task, all of it or nothing.
    ///
    /// # Errors
    /// The error of the file system, and `NotFound` for what is no id.
    fn write(&self, id: &str, state: &str) -> io::Result<()>;

    /// Returns the state of a task and whether its process runs; `None` if there is no task of that id.
    ///
    /// # Errors
    /// The error of the file system.
    fn read(&self, id: &str) -> io::Result<Option<StoredTask>>;

    /// Removes everything that is kept of a task.
    fn remove(&self, id: &str);

    /// Requests the process of a task to stop.
    ///
    /// # Errors
    /// The error of the file system.
    fn request_stop(&self, id: &str) -> io::Result<()>;

    /// Returns whether the process of a task was requested to stop.
    fn is_stop_requested(&self, id: &str) -> bool;

    /// Starts the process of a task, which outlives this one and reads the call on its stdin.
    ///
    /// # Errors
    /// The system's, and `WouldBlock` if too many run.
    fn start(&self, id: &str, call: String) -> io::Result<TaskProcess>;
}

/// A task as it is kept.
pub struct StoredTask {
    pub state: String,
    /// True while its process runs. One that has ended wrote the last state before.
    pub is_running: bool,
}

/// A started process of a task. A channel that is closed without a message means the end of the process, too.
pub struct TaskProcess {
    /// Sent once it has read its call, and from then on counts as running.
    pub ready: oneshot::Receiver<()>,
    pub ended: oneshot::Receiver<()>,
}
