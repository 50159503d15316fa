//! The server behind the proxies whose configurations lie in `packaging/proxy`: the end-to-end test in
//! `tests/proxy`, with the real programs.

use crate::run::{program, root, run_command, target};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub(crate) fn run() -> Result<()> {
    let programs = programs()?;
    run_command(
        Command::new("python3")
            // What Python compiles doesn't belong beside the test.
            .arg("-B")
            .arg(root().join("tests/proxy/end_to_end.py"))
            .arg(program("cairn"))
            .arg(program("cairn-server"))
            .arg(programs.join("usr/sbin/nginx"))
            .arg(programs.join("usr/bin/caddy"))
            .arg(root().join("packaging/proxy")),
    )
}

/// Unpacks Debian's packages of the proxies below the target directory, once.
///
/// Installing them would start servers on the machine of whoever runs the tests.
pub(crate) fn programs() -> Result<PathBuf> {
    let dir = target().join("proxies");
    if dir.join("usr/sbin/nginx").is_file() && dir.join("usr/bin/caddy").is_file() {
        return Ok(dir);
    }
    fs::create_dir_all(&dir)?;
    run_command(
        Command::new("apt-get")
            .args(["download", "-qq", "nginx", "caddy"])
            .current_dir(&dir)
            .stdout(Stdio::null()),
    )
    .context("the proxies come from Debian's packages")?;
    for entry in fs::read_dir(&dir)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "deb") {
            run_command(Command::new("dpkg").arg("-x").arg(&file).arg(&dir))?;
            fs::remove_file(file)?;
        }
    }
    Ok(dir)
}
