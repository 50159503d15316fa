//! Mail: the story in `tests/mail`, against a mail server that others wrote.

use crate::python::environment;
use crate::run::{program, root, run_command};
use anyhow::Result;
use std::fs;
use std::process::Command;

pub(crate) fn run() -> Result<()> {
    let place = root().join("tests/mail");
    let programs = environment("mail", &fs::read_to_string(place.join("requirements.txt"))?)?;
    run_command(
        Command::new(programs.join("python"))
            // What Python compiles doesn't belong beside the story.
            .arg("-B")
            .arg(place.join("story.py"))
            .arg(program("cairn-server")),
    )
}
