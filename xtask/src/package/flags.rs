//! The flags with which packages are built: no directory of the machine in the programs, and less memory at each start.

use crate::run::root;
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::Command;

/// Separates the flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: char = '\u{1f}';

/// Lets a build name no directory of this machine, which messages of panics and asserts would have, and start with
/// less memory.
pub(super) fn set(build: &mut Command) -> Result<()> {
    let cargo_home = std::env::var_os("CARGO_HOME").map_or_else(
        || {
            std::env::home_dir()
                .context("the home directory is unknown")
                .map(|home| home.join(".cargo"))
        },
        |given| Ok(PathBuf::from(given)),
    )?;
    hide(build, [(root(), "/cairn"), (cargo_home, "/cargo")]);
    Ok(())
}

/// Gives directories other names in what is built.
fn hide(build: &mut Command, hidden: [(PathBuf, &str); 2]) {
    let mut rust = given_rust_flags();
    rust.extend(packed_relocations());
    let mut c = std::env::var("CFLAGS").unwrap_or_default();
    for (directory, name) in hidden {
        let directory = directory.display().to_string();
        rust.push(format!("--remap-path-prefix={directory}={name}"));
        // Blanks separate the flags of C: such a directory would end the build, and is named instead.
        if !directory.contains(char::is_whitespace) {
            c += &format!(" -ffile-prefix-map={directory}={name}");
        }
    }
    build
        .env("CARGO_ENCODED_RUSTFLAGS", rust.join(&SEPARATOR.to_string()))
        .env("CFLAGS", c.trim_start());
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

    fn variable<'a>(build: &'a Command, wanted: &str) -> &'a str {
        let mut set = build.get_envs().filter(|(name, _)| *name == wanted);
        let value = set.next().and_then(|(_, value)| value?.to_str());
        value.expect("the variable is set")
    }

    #[test]
    fn a_build_names_no_directory_of_this_machine() {
        let mut build = Command::new("cargo");
        set(&mut build).unwrap();
        let flags = variable(&build, "CARGO_ENCODED_RUSTFLAGS");
        let hidden = format!("--remap-path-prefix={}=/cairn", root().display());
        assert!(flags.split(SEPARATOR).any(|flag| flag == hidden), "{flags}");
    }

    #[test]
    fn a_directory_with_a_blank_does_not_end_up_in_the_flags_of_c() {
        let mut build = Command::new("cargo");
        let hidden = [("/home/a b", "/cairn"), ("/plain", "/cargo")];
        hide(&mut build, hidden.map(|(at, name)| (at.into(), name)));
        let flags = variable(&build, "CFLAGS");
        assert!(flags.contains("-ffile-prefix-map=/plain=/cargo"), "{flags}");
        assert!(!flags.contains("a b"), "{flags}");
        let flags = variable(&build, "CARGO_ENCODED_RUSTFLAGS");
        assert!(
            flags.contains("--remap-path-prefix=/home/a b=/cairn"),
            "{flags}"
        );
    }
}
