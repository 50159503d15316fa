//! Finds the two programs under test.
//!
//! `CAIRN_BIN` and `CAIRN_SERVER_BIN` name them; without these variables they are taken from the
//! target directory in which the test itself was built, so that debug tests drive debug programs.

use anyhow::{Context, Result, bail};
use std::env;
use std::path::PathBuf;

/// The command line and daemon.
///
/// # Errors
/// The program was not built; the message says how to.
pub fn cairn() -> Result<PathBuf> {
    find("CAIRN_BIN", "cairn")
}

/// The bundled server.
///
/// # Errors
/// As [`cairn`].
pub fn server() -> Result<PathBuf> {
    find("CAIRN_SERVER_BIN", "cairn-server")
}

fn find(variable: &str, name: &str) -> Result<PathBuf> {
    if let Some(path) = env::var_os(variable).map(PathBuf::from) {
        if path.is_file() {
            return Ok(path);
        }
        bail!("{variable} names {}, which is no file", path.display());
    }
    let me = env::current_exe().context("the test's own path is unknown")?;
    // target/debug/deps/scenarios-HASH for tests, target/release/cairn-bench for programs.
    for dir in me.ancestors().skip(1).take(2) {
        let path = dir.join(name);
        if path.is_file() {
            return Ok(path);
        }
    }
    bail!(
        "no `{name}` beside {}: build both programs with `cargo build -p cairn -p cairn-server` \
         (add --release for a release build), or name one with {variable}",
        me.display()
    )
}
