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
    /// Mounts a tmpfs of `bytes` at a directory that it makes. Nothing where this machine does not
    /// allow it: the reason is printed, and the caller skips its test.
    ///
    /// # Errors
    /// The directory can't be made.
    pub fn mount(at: PathBuf, bytes: u64) -> Result<Option<Self>> {
        std::fs::create_dir_all(&at)?;
        let size = format!("size={bytes}");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "cairn-e2e"])
            .arg(&at)
            .output();
        match done {
            Ok(output) if output.status.success() => Ok(Some(Self { at })),
            Ok(output) => {
                let reason = String::from_utf8_lossy(&output.stderr).into_owned();
                eprintln!("SKIPPED: no tmpfs can be mounted here: {}", reason.trim());
                Ok(None)
            }
            Err(error) => {
                eprintln!("SKIPPED: `mount` can't be run: {error}");
                Ok(None)
            }
        }
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
        let output = Command::new("mount")
            .args(["-o", &format!("remount,size={bytes}")])
            .arg(&self.at)
            .output()
            .context("`mount` can't be run")?;
        if !output.status.success() {
            bail!(
                "the disk can't be resized: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process of a failed test may still hold a file there.
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).output();
    }
}
