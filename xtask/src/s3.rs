//! Sealed chunks in an S3-compatible store: the story in `tests/s3`, against an
//! independent imitation of S3.

use crate::python::environment;
use crate::run::{program, root, run_command};
use anyhow::Result;
use std::fs;
use std::process::Command;

pub(crate) fn run() -> Result<()> {
    let folder = root().join("tests/s3");
    let programs = environment("s3", &fs::read_to_string(folder.join("requirements.txt"))?)?;
    run_command(
        Command::new(programs.join("python"))
            // What Python compiles doesn't belong beside the story.
            .arg("-B")
            .arg(folder.join("story.py"))
            .arg(program("cairn"))
            .arg(program("cairn-server")),
    )
}
