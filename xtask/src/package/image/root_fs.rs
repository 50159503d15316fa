//! The files of the image.

use super::super::build::{put, source_date};
use super::super::contents::{LEGAL, PACKAGES, SBOM_NAME};
use super::super::sbom::Sboms;
use super::PROGRAM;
use crate::run::{root, run_command};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The user and group of the server, whom `packaging/oci/passwd` names.
pub(super) const USER: u32 = 65532;
/// The server's data directory, the one place that it writes to.
pub(super) const DATA: &str = "data";
/// The authorities whose signatures webhooks, mail servers and object stores are believed by.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Puts together what the image has.
pub(super) fn stage(program: &Path, sboms: &Sboms, stage: &Path) -> Result<()> {
    let inside = stage.join("usr/bin").join(PROGRAM);
    put(program, &inside, "755")?;
    run_command(Command::new("strip").arg(&inside))?;
    for library in libraries(program)? {
        let to = library.strip_prefix("/").context("a library has a path")?;
        put(&library, &stage.join(to), "755")?;
    }
    for name in ["passwd", "group", "nsswitch.conf"] {
        let from = root().join("packaging/oci").join(name);
        put(&from, &stage.join("etc").join(name), "644")?;
    }
    put(
        &Path::new("/").join(CERTIFICATES),
        &stage.join(CERTIFICATES),
        "644",
    )
    .context("the certificates come from the package ca-certificates")?;
    let doc = stage.join("usr/share/doc").join(PROGRAM);
    for (from, name) in LEGAL {
        put(&root().join(from), &doc.join(name), "644")?;
    }
    let package = PACKAGES.iter().find(|package| package.name == PROGRAM);
    let package = package.context("the server has a package")?;
    fs::write(doc.join(SBOM_NAME), sboms.text(package)?)?;
    Ok(fs::create_dir(stage.join(DATA))?)
}

/// Returns the libraries that the system loads with a program; none for one that is linked statically.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd")
        .arg(program)
        .output()
        .context("can't run ldd")?;
    Ok(library_paths(&String::from_utf8_lossy(&output.stdout)))
}

fn library_paths(ldd: &str) -> Vec<PathBuf> {
    ldd.lines()
        .flat_map(|line| line.split_whitespace())
        .filter(|word| word.starts_with('/') && word.contains(".so"))
        .map(PathBuf::from)
        .collect()
}

/// Packs the files as one layer, with the same bytes for the same files: sorted, with one time, readable for all.
pub(super) fn pack(stage: &Path, layer: &Path) -> Result<()> {
    let excluded = format!("--exclude=./{DATA}");
    let date = source_date()?;
    let owner = |id: u32| [format!("--owner={id}"), format!("--group={id}")];
    let all = ["--mode=u=rwX,go=rX", excluded.as_str(), "."];
    run_command(
        tar("--create", stage, layer, &date)
            .args(owner(0))
            .args(all),
    )?;
    let data = format!("./{DATA}");
    run_command(
        tar("--append", stage, layer, &date)
            .args(owner(USER))
            .args(["--mode=0700", data.as_str()]),
    )
}

/// Returns the command that writes files below a directory into an archive.
pub(super) fn tar(mode: &str, dir: &Path, archive: &Path, date: &str) -> Command {
    let mut command = Command::new("tar");
    command
        .args([mode, "--format=ustar", "--sort=name", "--numeric-owner"])
        .arg(format!("--mtime=@{date}"))
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(dir);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_are_those_that_ldd_found() {
        let dynamic = "\tlinux-vdso.so.1 (0x00007ffd2b5f2000)\n\
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2c0a000000)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f2c0a3f0000)\n";
        let paths: Vec<PathBuf> = [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib64/ld-linux-x86-64.so.2",
        ]
        .map(PathBuf::from)
        .into();
        assert_eq!(library_paths(dynamic), paths);
        assert!(library_paths("\tstatically linked\n").is_empty());
    }
}
