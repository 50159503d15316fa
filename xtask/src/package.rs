//! The Debian package: tray, daemon and command line with what belongs to them, and the check that it
//! unpacks and works in a root of its own.

use crate::run::{cargo, root, show, target};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A shell, and where its completions lie.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/cairn"),
    ("zsh", "usr/share/zsh/vendor-completions/_cairn"),
    ("fish", "usr/share/fish/vendor_completions.d/cairn.fish"),
];

/// From the workspace, and where it goes in the package.
const FILES: [(&str, &str); 6] = [
    (
        "packaging/cairn.service",
        "usr/lib/systemd/user/cairn.service",
    ),
    (
        "packaging/cairn-tray.desktop",
        "usr/share/applications/cairn-tray.desktop",
    ),
    ("packaging/deb/copyright", "usr/share/doc/cairn/copyright"),
    ("LICENSE-MIT", "usr/share/doc/cairn/LICENSE-MIT"),
    ("LICENSE-APACHE", "usr/share/doc/cairn/LICENSE-APACHE"),
    (
        "icons/app.svg",
        "usr/share/icons/hicolor/scalable/apps/cairn.svg",
    ),
];

const ICONS: [u32; 6] = [32, 48, 64, 128, 256, 512];

/// Libraries of a desktop that the tray is linked with.
const DEPENDS: &str =
    "libc6 (>= 2.36), libgtk-3-0 | libgtk-3-0t64, libwebkit2gtk-4.1-0, libayatana-appindicator3-1";

/// Builds the programs for release, and the package from them.
pub(crate) fn release() -> Result<()> {
    crate::tray::page()?;
    show(cargo().args([
        "build",
        "--release",
        "--locked",
        "-p",
        "cairn",
        "-p",
        "cairn-tray",
    ]))?;
    let package = build(&target().join("release"), &target().join("package"))?;
    println!("{}", package.display());
    Ok(())
}

/// Packages the programs that the tests use, unpacks the package in an empty root and tries what is in it.
pub(crate) fn check() -> Result<()> {
    let work = tempfile::tempdir()?;
    let package = build(&target().join("debug"), &work.path().join("out"))?;
    let clean = work.path().join("root");
    unpack(&package, &clean)?;
    let inside = |path: &str| -> Result<PathBuf> {
        let file = clean.join(path);
        ensure!(file.is_file(), "the package has no /{path}");
        Ok(file)
    };
    for (_, path) in FILES.iter().chain(&COMPLETIONS) {
        inside(path)?;
    }
    inside("usr/share/man/man1/cairn.1.gz")?;
    inside("usr/share/icons/hicolor/128x128/apps/cairn.png")?;
    let version = env!("CARGO_PKG_VERSION");
    for program in ["cairn", "cairn-tray"] {
        let said = Command::new(inside(&format!("usr/bin/{program}"))?)
            .arg("--version")
            .output()?;
        let said = String::from_utf8_lossy(&said.stdout);
        ensure!(
            said.trim() == format!("{program} {version}"),
            "the packaged {program} calls itself `{}`",
            said.trim()
        );
    }
    check_unit(&clean)?;
    // The home of a user who has just installed it: nobody is logged in, and it says so.
    let home = work.path().join("home");
    let whoami = Command::new(inside("usr/bin/cairn")?)
        .args(["--json", "whoami", "--home"])
        .arg(&home)
        .output()?;
    ensure!(
        whoami.status.code() == Some(3),
        "the packaged cairn ended with {} instead of 3",
        whoami.status
    );
    Ok(())
}

/// Makes `cairn_VERSION_ARCH.deb` in `out` from the programs in `programs`.
fn build(programs: &Path, out: &Path) -> Result<PathBuf> {
    let work = tempfile::tempdir()?;
    // A temporary directory is closed to others, and what is staged in it would be so too.
    let stage = &work.path().join("cairn");
    fs::create_dir(stage)?;
    stage_files(programs, stage)?;
    stage_completions(stage)?;
    stage_manual(stage)?;
    control(stage)?;
    fs::create_dir_all(out)?;
    let name = format!(
        "cairn_{}_{}.deb",
        env!("CARGO_PKG_VERSION"),
        architecture()?
    );
    let package = out.join(name);
    show(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "--build"])
            .arg(stage)
            .arg(&package)
            .stdout(std::process::Stdio::null()),
    )?;
    Ok(package)
}

/// Copies the programs, icons and files that are ready made.
fn stage_files(programs: &Path, stage: &Path) -> Result<()> {
    for program in ["cairn", "cairn-tray"] {
        let target = stage.join("usr/bin").join(program);
        put(&programs.join(program), &target, "755")?;
        show(Command::new("strip").arg(&target))?;
    }
    for (from, to) in FILES {
        put(&root().join(from), &stage.join(to), "644")?;
    }
    for size in ICONS {
        let to = format!("usr/share/icons/hicolor/{size}x{size}/apps/cairn.png");
        put(
            &root().join(format!("icons/app-{size}.png")),
            &stage.join(to),
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
        parent(&to)?;
        fs::write(&to, script.stdout)?;
    }
    Ok(())
}

/// Writes the manual pages and the changelog, compressed as Debian wants them.
fn stage_manual(stage: &Path) -> Result<()> {
    let man = stage.join("usr/share/man/man1");
    fs::create_dir_all(&man)?;
    show(
        Command::new(stage.join("usr/bin/cairn"))
            .arg("--json")
            .arg("man")
            .arg(&man)
            .stdout(std::process::Stdio::null()),
    )?;
    compress(&man)?;
    let doc = stage.join("usr/share/doc/cairn");
    put(&root().join("CHANGELOG.md"), &doc.join("changelog"), "644")?;
    show(
        Command::new("gzip")
            .args(["-9n"])
            .arg(doc.join("changelog")),
    )
}

fn control(stage: &Path) -> Result<()> {
    let size = size(&stage.join("usr"))?.div_ceil(1024);
    let text = format!(
        "Package: cairn\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: {}\n\
         Installed-Size: {size}\n\
         Depends: {DEPENDS}\n\
         Recommends: gnome-keyring | kwalletmanager\n\
         Section: net\n\
         Priority: optional\n\
         Description: end-to-end encrypted folder sync\n \
         Cairn keeps folders in sync with an encrypted storage service. Files are\n \
         encrypted on this device; the service never sees keys or contents.\n \
         .\n \
         This package has the daemon, the command line and the tray.\n",
        env!("CARGO_PKG_VERSION"),
        architecture()?,
        maintainer(),
    );
    let dir = stage.join("DEBIAN");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("control"), text)?;
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

/// As `dpkg --root` does it, whose database is made first; dependencies are the real root's.
fn unpack(package: &Path, clean: &Path) -> Result<()> {
    for dir in [
        "var/lib/dpkg/info",
        "var/lib/dpkg/updates",
        "var/lib/dpkg/triggers",
    ] {
        fs::create_dir_all(clean.join(dir))?;
    }
    fs::write(clean.join("var/lib/dpkg/status"), "")?;
    show(
        Command::new("dpkg")
            .arg(format!("--root={}", clean.display()))
            .arg(format!("--log={}", clean.join("dpkg.log").display()))
            .args([
                "--force-not-root",
                "--force-depends",
                "--force-script-chrootless",
                "--unpack",
            ])
            .arg(package)
            .stdout(std::process::Stdio::null()),
    )
}

fn check_unit(clean: &Path) -> Result<()> {
    let unit = fs::read_to_string(clean.join("usr/lib/systemd/user/cairn.service"))?;
    let start = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .and_then(|line| line.split(' ').next())
        .context("the unit starts nothing")?;
    ensure!(
        clean.join(start.trim_start_matches('/')).is_file(),
        "the unit starts {start}, which is not in the package"
    );
    let entry = fs::read_to_string(clean.join("usr/share/applications/cairn-tray.desktop"))?;
    for key in ["Exec=cairn-tray", "Icon=cairn", "Type=Application"] {
        ensure!(entry.contains(key), "the desktop entry has no {key}");
    }
    Ok(())
}

fn put(from: &Path, to: &Path, mode: &str) -> Result<()> {
    show(
        Command::new("install")
            .args(["-D", "-m", mode])
            .arg(from)
            .arg(to),
    )
}

fn parent(path: &Path) -> Result<()> {
    let dir = path.parent().context("a file lies in a directory")?;
    Ok(fs::create_dir_all(dir)?)
}

fn compress(dir: &Path) -> Result<()> {
    let mut pages = 0;
    for entry in fs::read_dir(dir)? {
        show(Command::new("gzip").arg("-9n").arg(entry?.path()))?;
        pages += 1;
    }
    if pages < 10 {
        bail!("only {pages} manual pages were made");
    }
    Ok(())
}

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

fn architecture() -> Result<String> {
    let output = Command::new("dpkg").arg("--print-architecture").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
