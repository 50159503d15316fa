//! The Debian packages: `cairn` (daemon and command line), `cairn-tray` and `cairn-server`; and the
//! check that they unpack and work in a root of their own.

mod build;
mod check;
mod contents;

use crate::run::{cargo, show, target};
use anyhow::Result;
use contents::PACKAGES;

pub(crate) use check::check;

/// Builds the programs for release, and the packages from them.
pub(crate) fn release() -> Result<()> {
    crate::tray::page()?;
    let mut programs = cargo();
    programs.args(["build", "--release", "--locked"]);
    for package in &PACKAGES {
        programs.args(["-p", package.program]);
    }
    show(&mut programs)?;
    for package in &PACKAGES {
        let file = build::build(
            package,
            &target().join("release"),
            &target().join("package"),
        )?;
        println!("{}", file.display());
    }
    Ok(())
}
