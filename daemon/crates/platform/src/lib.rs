//! All code that depends on the operating system: disk, watcher, secrets, sockets, processes, power.
//!
//! No other crate has `cfg(target_os)` or unsafe code. Nothing here knows what sync is: it gives facts
//! and does single operations, each with an error that names the operation and the path.

mod atomic_write;
pub mod autostart;
pub mod dirs;
pub mod disk;
pub mod filesystem;
mod fnv;
pub mod instance;
pub mod lock;
pub mod memory;
pub mod names;
pub mod power;
pub mod process;
pub mod secrets;
pub mod socket;
mod timeout;
pub mod watch;
mod zone;

pub use atomic_write::{FileMode, write_atomic};
pub use dirs::Home;
pub use disk::{
    Disk, Entry, Expect, FileId, FileKind, ReadSeek, RealDisk, Stat, StatKey, TargetChanged,
    TempFile,
};
pub use filesystem::{Filesystem, FilesystemKind};
pub use lock::{DaemonLock, Holder, wait_for_lock};
pub use names::{NameProblem, NameRules};
pub use watch::{Hint, Watcher};
pub use zone::{Instants, Zone};
