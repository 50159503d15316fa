//! Everything that asks the operating system for something: disk, watcher, secrets, sockets, power.
//!
//! No other crate has `cfg(target_os)` or unsafe code. Nothing here knows what sync is: it gives facts
//! and does single operations, each with an error that says what happened to which path.

pub mod autostart;
pub mod dirs;
pub mod disk;
pub mod lock;
pub mod names;
mod patience;
pub mod power;
pub mod process;
pub mod secrets;
pub mod socket;
pub mod watch;

pub use dirs::Home;
pub use disk::{
    Disk, Entry, Expect, FileId, FileKind, ReadSeek, RealDisk, Stat, StatKey, TargetChanged,
    TempFile,
};
pub use lock::DaemonLock;
pub use names::{NameProblem, NameRules};
pub use watch::{Hint, Watcher};
