//! Makes a package from programs that are built.
//!
//! The same programs give the same bytes: every time in the package is that of the last commit, or of
//! `SOURCE_DATE_EPOCH`.

use super::contents::{COMPLETIONS, ICONS, LEGAL, Package, SBOM_NAME};
use super::sbom::Sboms;
use crate::run::{root, run_command};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Makes `NAME_VERSION_ARCH.deb` in `out` from the programs in `programs`.
pub(super) fn build(
    package: &Package,
    sboms: &Sboms,
    programs: &Path,
    out: &Path,
) -> Result<PathBuf> {
    let work = tempfile::tempdir()?;
    // A temporary directory is closed to others, and what is staged in it would be so too.
    let stage = &work.path().join(package.name);
    fs::create_dir(stage)?;
    stage_files(package, programs, stage)?;
    if package.has_icons {
        stage_icons(stage)?;
    }
    if package.has_manual {
        stage_completions(stage)?;
        stage_manual(stage)?;
    }
    stage_changelog(package, stage)?;
    stage_sbom(package, sboms, stage)?;
    stage_control(package, stage)?;
    fs::create_dir_all(out)?;
    let version = env!("CARGO_PKG_VERSION");
    let file = out.join(format!(
        "{}_{version}_{}.deb",
        package.name,
        architecture()?
    ));
    run_command(
        Command::new("dpkg-deb")
            .env("SOURCE_DATE_EPOCH", source_date()?)
            .args(["--root-owner-group", "--build"])
            .arg(stage)
            .arg(&file)
            .stdout(Stdio::null()),
    )?;
    Ok(file)
}

/// Copies the program and the files that are ready made.
fn stage_files(package: &Package, programs: &Path, stage: &Path) -> Result<()> {
    let program = stage.join("usr/bin").join(package.program);
    put(&programs.join(package.program), &program, "755")?;
    run_command(Command::new("strip").arg(&program))?;
    for (from, to) in package.files {
        put(&root().join(from), &stage.join(to), "644")?;
    }
    for (from, name) in LEGAL {
        put(&root().join(from), &doc(package, stage).join(name), "644")?;
    }
    Ok(())
}

fn stage_icons(stage: &Path) -> Result<()> {
    let icons = stage.join("usr/share/icons/hicolor");
    put(
        &root().join("icons/app.svg"),
        &icons.join("scalable/apps/cairn.svg"),
        "644",
    )?;
    for size in ICONS {
        put(
            &root().join(format!("icons/app-{size}.png")),
            &icons.join(format!("{size}x{size}/apps/cairn.png")),
            "644",
        )?;
    }
    Ok(())
}

fn stage_completions(stage: &Path) -> Result<()> {
    for (shell, to) in COMPLETIONS {
        let script = Command::new(stage.join("usr/bin/cairn"))
            .args(["completions", shell])
            .output()?;
        ensure!(script.status.success(), "no completions for {shell}");
        let to = stage.join(to);
        fs::create_dir_all(to.parent().context("a file lies in a directory")?)?;
        fs::write(&to, script.stdout)?;
    }
    Ok(())
}

/// Writes the manual pages, compressed as Debian wants them.
fn stage_manual(stage: &Path) -> Result<()> {
    let man = stage.join("usr/share/man/man1");
    fs::create_dir_all(&man)?;
    run_command(
        Command::new(stage.join("usr/bin/cairn"))
            .arg("--json")
            .arg("man")
            .arg(&man)
            .stdout(Stdio::null()),
    )?;
    let mut pages = 0;
    for entry in fs::read_dir(man)? {
        run_command(Command::new("gzip").arg("-9n").arg(entry?.path()))?;
        pages += 1;
    }
    ensure!(pages >= 10, "only {pages} manual pages were made");
    Ok(())
}

fn stage_changelog(package: &Package, stage: &Path) -> Result<()> {
    let changelog = doc(package, stage).join("changelog");
    put(&root().join("CHANGELOG.md"), &changelog, "644")?;
    run_command(Command::new("gzip").arg("-9n").arg(changelog))
}

/// Writes the SBOM.
fn stage_sbom(package: &Package, sboms: &Sboms, stage: &Path) -> Result<()> {
    let sbom = doc(package, stage).join(SBOM_NAME);
    fs::write(&sbom, sboms.text(package)?)?;
    run_command(Command::new("chmod").arg("644").arg(sbom))
}

/// Writes the control file, the list of configuration files and the scripts.
fn stage_control(package: &Package, stage: &Path) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let mut size = size(&stage.join("usr"))?;
    if stage.join("etc").is_dir() {
        size += self::size(&stage.join("etc"))?;
    }
    let mut text = format!(
        "Package: {}\nVersion: {version}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {}\n\
         Priority: optional\n",
        package.name,
        architecture()?,
        maintainer(),
        size.div_ceil(1024),
    );
    for (field, value) in package.fields {
        text += &format!("{field}: {}\n", value.replace("VERSION", version));
    }
    text += &format!("Description: {}\n", package.description[0]);
    for line in &package.description[1..] {
        // An empty line would end the paragraph.
        text += &format!(" {}\n", if line.is_empty() { "." } else { line });
    }
    let dir = stage.join("DEBIAN");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("control"), text)?;
    if !package.conffiles.is_empty() {
        fs::write(dir.join("conffiles"), package.conffiles.join("\n") + "\n")?;
    }
    for (from, name) in package.scripts {
        put(&root().join(from), &dir.join(name), "755")?;
    }
    Ok(())
}

/// Returns who answers for the package, from the variables of Debian's own tools.
fn maintainer() -> String {
    let variable = |name: &str, default: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| default.to_owned())
    };
    format!(
        "{} <{}>",
        variable("DEBFULLNAME", "unofficial build"),
        variable("DEBEMAIL", "root@localhost")
    )
}

/// Returns the time that all files of a package get, in seconds since 1970.
pub(super) fn source_date() -> Result<String> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(given);
    }
    let commit = Command::new("git")
        .current_dir(root())
        .args(["log", "-1", "--format=%ct"])
        .output()
        .context("can't run git for the time of the last commit")?;
    ensure!(
        commit.status.success(),
        "the time of the last commit is unknown: set SOURCE_DATE_EPOCH"
    );
    Ok(String::from_utf8(commit.stdout)?.trim().to_owned())
}

fn doc(package: &Package, stage: &Path) -> PathBuf {
    stage.join("usr/share/doc").join(package.name)
}

pub(super) fn put(from: &Path, to: &Path, mode: &str) -> Result<()> {
    run_command(
        Command::new("install")
            .args(["-D", "-m", mode])
            .arg(from)
            .arg(to),
    )
}

/// Returns the bytes of all files below a directory.
fn size(dir: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(sum)
}

/// Returns the machine's architecture by Debian's name, which OCI has as well.
pub(super) fn architecture() -> Result<String> {
    let output = Command::new("dpkg").arg("--print-architecture").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
