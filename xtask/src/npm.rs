//! Packages of Node.js, as a package-lock.json pins them.

use crate::run::run_command;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A copy of the file that pinned what is installed, written last.
const INSTALLED: &str = "node_modules/.installed-lock.json";

/// Installs what a package-lock.json pins, unless that is installed already.
///
/// # Errors
/// There is no npm, or a package can't be fetched.
pub(crate) fn install(dir: &Path, options: &[&str]) -> Result<()> {
    let lock = dir.join("package-lock.json");
    if is_installed(dir)? {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.current_dir(dir)
        .args(["ci", "--no-audit", "--no-fund"])
        .args(options);
    run_command(&mut npm).context("packages are fetched with npm, which comes with Node")?;
    fs::copy(&lock, dir.join(INSTALLED))
        .with_context(|| format!("can't copy {}", lock.display()))?;
    Ok(())
}

fn is_installed(dir: &Path) -> Result<bool> {
    let lock = dir.join("package-lock.json");
    let pinned = fs::read(&lock).with_context(|| format!("can't read {}", lock.display()))?;
    Ok(fs::read(dir.join(INSTALLED)).is_ok_and(|installed| installed == pinned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_pin_is_not_installed() {
        let dir = tempfile::tempdir().unwrap();
        assert!(is_installed(dir.path()).is_err(), "nothing is pinned");
        let lock = dir.path().join("package-lock.json");
        fs::write(&lock, "1").unwrap();
        assert!(!is_installed(dir.path()).unwrap());
        fs::create_dir(dir.path().join("node_modules")).unwrap();
        fs::copy(&lock, dir.path().join(INSTALLED)).unwrap();
        assert!(is_installed(dir.path()).unwrap());
        fs::write(&lock, "2").unwrap();
        assert!(!is_installed(dir.path()).unwrap());
    }
}
