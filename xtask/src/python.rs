//! Virtual environments of Python, for third-party tools.

use crate::run::{program, root, run_command, target};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Runs `end_to_end.py` of a folder below `tests`, with what its `requirements.txt` names and with programs of ours.
pub(crate) fn run_end_to_end(name: &str, programs: &[&str]) -> Result<()> {
    let folder = root().join("tests").join(name);
    let tools = environment(name, &fs::read_to_string(folder.join("requirements.txt"))?)?;
    let mut test = Command::new(tools.join("python"));
    // What Python compiles doesn't belong beside the test.
    test.arg("-B").arg(folder.join("end_to_end.py"));
    run_command(test.args(programs.iter().map(|name| program(name))))
}

/// The programs of an environment below `target/` that has exactly what a requirements file names.
///
/// # Errors
/// There is no Python 3, or a package can't be fetched.
pub(crate) fn environment(name: &str, requirements: &str) -> Result<PathBuf> {
    let home = target().join(name);
    let programs = home.join("bin");
    // Written last, so that an installation that broke off is begun again.
    let installed = home.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|found| found == requirements) {
        return Ok(programs);
    }
    run_command(Command::new("python3").args(["-m", "venv"]).arg(&home))
        .context("a virtual environment needs Python 3")?;
    let wanted = home.join("wanted.txt");
    fs::write(&wanted, requirements)?;
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--requirement"]);
    run_command(pip.arg(&wanted))?;
    fs::rename(wanted, installed)?;
    Ok(programs)
}
