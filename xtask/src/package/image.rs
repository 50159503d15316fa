//! The server as an OCI image made from nothing: the program, what it needs to run, and nothing else.
//!
//! It is written here, without a daemon or a registry. The same program gives the same bytes.

mod layout;
mod root_fs;

use super::build::architecture;
use super::sbom::Sboms;
use crate::python::environment;
use crate::run::{cargo, program, root, run_command, succeeds, target};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "cairn-server";

/// Builds the server for release, linked statically where this machine can do that, and its image.
pub(crate) fn image() -> Result<()> {
    let program = build_program()?;
    let archive = make(&program, &Sboms::read()?, &target().join("image"))?;
    println!("{}", archive.display());
    Ok(())
}

/// Makes the image of the program that the tests use, twice, and runs `tests/container` with it.
pub(crate) fn check_image() -> Result<()> {
    let work = tempfile::tempdir()?;
    let (program, sboms) = (program(PROGRAM), Sboms::read()?);
    let archive = make(&program, &sboms, &work.path().join("once"))?;
    let again = make(&program, &sboms, &work.path().join("twice"))?;
    ensure!(
        fs::read(&archive)? == fs::read(again)?,
        "two images of the same {PROGRAM} differ"
    );
    let place = root().join("tests/container");
    let requirements = fs::read_to_string(place.join("requirements.txt"))?;
    let programs = environment("container", &requirements)?;
    run_command(
        Command::new(programs.join("python"))
            // What Python compiles doesn't belong beside the test.
            .arg("-B")
            .arg(place.join("end_to_end.py"))
            .arg(archive)
            .arg(root().join("packaging")),
    )
}

/// Returns the program for release: for musl if Rust has that target here, else for this machine's C library.
fn build_program() -> Result<PathBuf> {
    let triple = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "-p", PROGRAM]);
    if !has_target(&triple)? {
        println!("for a smaller image, linked statically: rustup target add {triple}");
        run_command(&mut build)?;
        return Ok(target().join("release").join(PROGRAM));
    }
    ensure!(
        succeeds("musl-gcc", &["--version"]),
        "musl-gcc is missing: run `apt-get install musl-tools`"
    );
    let compiler = format!("CC_{}", triple.replace('-', "_"));
    run_command(build.args(["--target", &triple]).env(compiler, "musl-gcc"))?;
    Ok(target().join(&triple).join("release").join(PROGRAM))
}

/// Returns true if the standard library for a target is installed.
fn has_target(triple: &str) -> Result<bool> {
    let output = Command::new("rustc")
        .current_dir(root())
        .args(["--print", "target-libdir", "--target", triple])
        .output()
        .context("can't run rustc")?;
    let dir = String::from_utf8(output.stdout)?;
    Ok(output.status.success() && Path::new(dir.trim()).is_dir())
}

/// Makes `cairn-server_VERSION_ARCH.oci.tar` in `out`.
fn make(program: &Path, sboms: &Sboms, out: &Path) -> Result<PathBuf> {
    let work = tempfile::tempdir()?;
    let stage = work.path().join("root");
    root_fs::stage(program, sboms, &stage)?;
    let layer = work.path().join("layer.tar");
    root_fs::pack(&stage, &layer)?;
    fs::create_dir_all(out)?;
    let version = env!("CARGO_PKG_VERSION");
    let architecture = architecture()?;
    let archive = out.join(format!("{PROGRAM}_{version}_{architecture}.oci.tar"));
    layout::write(&layer, &architecture, &work.path().join("image"), &archive)?;
    Ok(archive)
}
