//! The Debian packages: `cairn` (daemon and command line), `cairn-tray` and `cairn-server`; and the
//! check that they unpack and work in a root of their own. The server's image for containers.

mod build;
mod check;
mod clean_system;
mod contents;
mod flags;
mod image;
mod recipes;
mod sbom;
mod twice;

use crate::run::{cargo, run_command, target};
use anyhow::Result;
use contents::PACKAGES;
use sbom::Sboms;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use check::check;
pub(crate) use clean_system::{try_readme, try_readme_if_allowed};
pub(crate) use image::{check_image, image};
pub(crate) use recipes::write as recipes;
pub(crate) use twice::build_twice;

/// Builds the programs for release, and the packages from them, with their SBOMs and checksums.
pub(crate) fn release() -> Result<()> {
    crate::tray::page()?;
    let mut programs = cargo();
    programs.args(["build", "--release", "--locked"]);
    for package in &PACKAGES {
        programs.args(["-p", package.program]);
    }
    flags::set(&mut programs)?;
    run_command(&mut programs)?;
    let to = target().join("package");
    let sboms = Sboms::read()?;
    let mut files = Vec::new();
    for package in &PACKAGES {
        files.push(build::build(
            package,
            &sboms,
            &target().join("release"),
            &to,
        )?);
    }
    files.extend(sbom::write(&sboms, &to)?);
    checksums(&to, &files)?;
    for file in files {
        println!("{}", file.display());
    }
    Ok(())
}

/// Writes the SBOMs alone.
pub(crate) fn sboms() -> Result<()> {
    let to = target().join("package");
    std::fs::create_dir_all(&to)?;
    for file in sbom::write(&Sboms::read()?, &to)? {
        println!("{}", file.display());
    }
    Ok(())
}

/// Writes the file by which `sha256sum --check` knows the others in a folder.
fn checksums(folder: &Path, files: &[PathBuf]) -> Result<()> {
    let names = files.iter().filter_map(|file| file.file_name());
    run_command(
        Command::new("sha256sum")
            .current_dir(folder)
            .args(names)
            .stdout(File::create(folder.join("SHA256SUMS"))?),
    )
}
