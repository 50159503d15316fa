//! The check that packages follow from the commit: builds in two directories are compared byte for byte.

use crate::run::{cargo, root, run_command};
use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names of the clones: of different lengths, so that no path in a program goes unnoticed.
const CLONES: [&str; 2] = ["once", "a-second-time"];

/// Builds the packages of the last commit in two new clones of it, and compares them byte for byte.
pub(crate) fn build_twice() -> Result<()> {
    let work = tempfile::tempdir()?;
    let [first, second] = CLONES.map(|name| work.path().join(name));
    let first = build_clone(&first)?;
    let second = build_clone(&second)?;
    compare(&first, &second)?;
    println!("Both builds made the same packages:");
    print!("{}", fs::read_to_string(first.join("SHA256SUMS"))?);
    Ok(())
}

/// Makes a clone, builds the packages in it and returns their folder.
fn build_clone(to: &Path) -> Result<PathBuf> {
    run_command(
        Command::new("git")
            .args(["clone", "--quiet"])
            .arg(root())
            .arg(to),
    )?;
    run_command(
        cargo()
            .args(["run", "--quiet", "--locked", "-p", "xtask", "--", "package"])
            .env_remove("CARGO_TARGET_DIR")
            .current_dir(to),
    )?;
    Ok(to.join("target/package"))
}

/// Fails with the names of the files in which two folders differ.
fn compare(first: &Path, second: &Path) -> Result<()> {
    let (names, others) = (names(first)?, names(second)?);
    ensure!(
        names == others,
        "the builds made different files: {names:?} and {others:?}"
    );
    let mut differing = Vec::new();
    for name in names {
        if fs::read(first.join(&name))? != fs::read(second.join(&name))? {
            differing.push(name);
        }
    }
    if !differing.is_empty() {
        bail!("the builds differ in {differing:?}");
    }
    Ok(())
}

/// Returns the names of all files in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<OsString>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("can't list {}", folder.display()))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    ensure!(!names.is_empty(), "{} is empty", folder.display());
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_packages_are_named() {
        let work = tempfile::tempdir().unwrap();
        let folders = CLONES.map(|name| work.path().join(name));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("same.deb"), "same").unwrap();
            fs::write(folder.join("other.deb"), "same").unwrap();
        }
        let [first, second] = &folders;
        compare(first, second).unwrap();
        fs::write(first.join("other.deb"), "not the same").unwrap();
        let error = compare(first, second).unwrap_err().to_string();
        assert!(
            error.contains("other.deb") && !error.contains("same.deb"),
            "{error}"
        );
        fs::remove_file(second.join("same.deb")).unwrap();
        assert!(compare(first, second).is_err());
    }
}
