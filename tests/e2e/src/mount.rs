//! Small file systems of a fixed size, for tests of a full disk.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted tmpfs; unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Mounts a tmpfs of `bytes` at a directory that it makes.
    ///
    /// # Errors
    /// The directory can't be made, or the system refuses: it takes root, or `sudo` without a
    /// password.
    pub fn mount(at: PathBuf, bytes: u64) -> Result<Self> {
        std::fs::create_dir_all(&at)?;
        let size = format!("size={bytes}");
        run(as_root("mount")
            .args(["-t", "tmpfs", "-o", &size, "cairn-e2e"])
            .arg(&at))?;
        Ok(Self { at })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Gives it another size while it is in use.
    ///
    /// # Errors
    /// The system refuses.
    pub fn resize(&self, bytes: u64) -> Result<()> {
        run(as_root("mount")
            .args(["-o", &format!("remount,size={bytes}")])
            .arg(&self.at))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process of a failed test may still hold a file there.
        let _ = as_root("umount").arg("--lazy").arg(&self.at).output();
    }
}

/// A command that runs with root's rights, through `sudo` where the test has none.
fn as_root(program: &str) -> Command {
    if rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", program]);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().context("`mount` can't be run")?;
    if !output.status.success() {
        bail!(
            "this test needs a small disk, and mounting one takes root or `sudo` without a \
             password: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}
