//! Packages that name no directory of the build, and the check: builds in two directories are compared byte for byte.

use crate::run::{cargo, root, run_command};
use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names of the clones: of different lengths, so that no path in a program goes unnoticed.
const CLONES: [&str; 2] = ["once", "a-second-time"];
/// Separates the flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: char = '\u{1f}';

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
            .env_remove("CARGO_MANIFEST_DIR")
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

/// Lets a build name no directory of this machine, which messages of panics and asserts would have, and start with
/// less memory.
pub(super) fn set_flags(build: &mut Command) -> Result<()> {
    let cargo_home = std::env::var_os("CARGO_HOME").map_or_else(
        || {
            std::env::home_dir()
                .context("the home directory is unknown")
                .map(|home| home.join(".cargo"))
        },
        |given| Ok(PathBuf::from(given)),
    )?;
    let hidden = [(root(), "/cairn"), (cargo_home, "/cargo")];
    let mut rust = given_rust_flags();
    rust.extend(packed_relocations());
    let mut c = std::env::var("CFLAGS").unwrap_or_default();
    for (directory, name) in hidden {
        let directory = directory.display();
        rust.push(format!("--remap-path-prefix={directory}={name}"));
        c += &format!(" -ffile-prefix-map={directory}={name}");
    }
    build
        .env("CARGO_ENCODED_RUSTFLAGS", rust.join(&SEPARATOR.to_string()))
        .env("CFLAGS", c.trim_start());
    Ok(())
}

/// Returns what packs the addresses that are adjusted at each start, a megabyte or two of a program's memory: for the
/// loaders that can read it, which glibc's can from 2.36 on.
fn packed_relocations() -> Option<String> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = version.trim().strip_prefix("glibc ")?.split_once('.')?;
    let version: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    (version >= (2, 36)).then(|| "-Clink-arg=-Wl,-z,pack-relative-relocs".to_owned())
}

/// Returns the compiler's flags that the environment has.
fn given_rust_flags() -> Vec<String> {
    let of = |name: &str| std::env::var(name).ok().filter(|flags| !flags.is_empty());
    if let Some(encoded) = of("CARGO_ENCODED_RUSTFLAGS") {
        return encoded.split(SEPARATOR).map(str::to_owned).collect();
    }
    let flags = of("RUSTFLAGS").unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
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

    #[test]
    fn a_build_names_no_directory_of_this_machine() {
        let mut build = Command::new("cargo");
        set_flags(&mut build).unwrap();
        let flags = build
            .get_envs()
            .find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS")
            .and_then(|(_, value)| value?.to_str())
            .expect("flags are set");
        let hidden = format!("--remap-path-prefix={}=/cairn", root().display());
        assert!(flags.split(SEPARATOR).any(|flag| flag == hidden), "{flags}");
    }
}
