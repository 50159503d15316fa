//! The check of the packages: unpacked together in an empty root, their programs run, their units start
//! what is there, and building twice gives the same bytes.

use super::build::build;
use super::contents::{COMPLETIONS, LEGAL, PACKAGES, Package, SBOM_NAME};
use super::sbom::Sboms;
use crate::run::{run_command, target};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The most exposed that systemd may judge the server's unit, in tenths: 0 to 30 is "OK".
const MAX_EXPOSURE: &str = "30";

/// Packages the programs that the tests use, unpacks the packages in an empty root and tries what is in
/// them.
pub(crate) fn check() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = target().join("debug");
    let clean = Root(work.path().join("root"));
    clean.prepare()?;
    for package in &PACKAGES {
        let make = |folder| {
            build(
                package,
                &Sboms::read()?,
                &programs,
                &work.path().join(folder),
            )
        };
        let (file, again) = (make("once")?, make("twice")?);
        ensure!(
            fs::read(&file)? == fs::read(&again)?,
            "two packages of the same {} differ",
            package.program
        );
        clean.unpack(&file)?;
        clean.has_all_of(package)?;
    }
    clean.existing_path("usr/share/man/man1/cairn.1.gz")?;
    clean.existing_path("usr/share/icons/hicolor/128x128/apps/cairn.png")?;
    for (_, path) in COMPLETIONS {
        clean.existing_path(path)?;
    }
    check_desktop_entry(&clean)?;
    check_server_unit(&clean)?;
    check_fresh_home(&clean, &work.path().join("home"))?;
    check_server_config(&clean, &work.path().join("data"))
}

/// A root in which nothing is installed yet.
struct Root(PathBuf);

impl Root {
    /// Makes the package manager's database.
    fn prepare(&self) -> Result<()> {
        for dir in ["info", "updates", "triggers"] {
            fs::create_dir_all(self.0.join("var/lib/dpkg").join(dir))?;
        }
        Ok(fs::write(self.0.join("var/lib/dpkg/status"), "")?)
    }

    /// Unpacks as `dpkg --root` does; dependencies are the real root's.
    fn unpack(&self, package: &Path) -> Result<()> {
        run_command(
            Command::new("dpkg")
                .arg(format!("--root={}", self.0.display()))
                .arg(format!("--log={}", self.0.join("dpkg.log").display()))
                .args([
                    "--force-not-root",
                    "--force-depends",
                    "--force-script-chrootless",
                    "--unpack",
                ])
                .arg(package)
                .stdout(Stdio::null()),
        )
    }

    /// Returns the path of a file in the root, which has to be there.
    fn existing_path(&self, path: &str) -> Result<PathBuf> {
        let file = self.0.join(path);
        ensure!(file.is_file(), "no package has /{path}");
        Ok(file)
    }

    fn has_all_of(&self, package: &Package) -> Result<()> {
        for (_, path) in package.files {
            // A configuration file is put in place when the package is configured.
            let new = format!("{path}.dpkg-new");
            self.existing_path(path)
                .or_else(|_| self.existing_path(&new))?;
        }
        for (_, name) in LEGAL {
            self.existing_path(&format!("usr/share/doc/{}/{name}", package.name))?;
        }
        self.existing_path(&format!("usr/share/doc/{}/{SBOM_NAME}", package.name))?;
        for (_, script) in package.scripts {
            let script =
                self.existing_path(&format!("var/lib/dpkg/info/{}.{script}", package.name))?;
            run_command(Command::new("sh").arg("-n").arg(script))?;
        }
        for (from, path) in package.files {
            if from.ends_with(".service") {
                self.unit_starts_program(path)?;
            }
        }
        let program = package.program;
        let stdout = Command::new(self.existing_path(&format!("usr/bin/{program}"))?)
            .arg("--version")
            .output()?;
        let stdout = String::from_utf8_lossy(&stdout.stdout);
        ensure!(
            stdout.trim() == format!("{program} {}", env!("CARGO_PKG_VERSION")),
            "the packaged {program} calls itself `{}`",
            stdout.trim()
        );
        Ok(())
    }

    fn unit_starts_program(&self, path: &str) -> Result<()> {
        let unit = fs::read_to_string(self.existing_path(path)?)?;
        let start = unit
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="))
            .and_then(|line| line.split(' ').next())
            .with_context(|| format!("/{path} starts nothing"))?;
        self.existing_path(start.trim_start_matches('/'))?;
        Ok(())
    }
}

fn check_desktop_entry(root: &Root) -> Result<()> {
    let entry =
        fs::read_to_string(root.existing_path("usr/share/applications/cairn-tray.desktop")?)?;
    for key in ["Exec=cairn-tray", "Icon=cairn", "Type=Application"] {
        ensure!(entry.contains(key), "the desktop entry has no {key}");
    }
    Ok(())
}

/// Lets systemd judge how much the server's unit may do.
fn check_server_unit(root: &Root) -> Result<()> {
    let unit = root.existing_path("usr/lib/systemd/system/cairn-server.service")?;
    run_command(
        Command::new("systemd-analyze")
            .args(["security", "--offline=yes", "--no-pager"])
            .arg(format!("--threshold={MAX_EXPOSURE}"))
            .arg(unit)
            .stdout(Stdio::null()),
    )
    .context("the unit lets the server do more than it needs")
}

/// The home of a user who has just installed it: nobody is logged in, and it says so.
fn check_fresh_home(root: &Root, home: &Path) -> Result<()> {
    let whoami = Command::new(root.existing_path("usr/bin/cairn")?)
        .args(["--json", "whoami", "--home"])
        .arg(home)
        .output()?;
    ensure!(
        whoami.status.code() == Some(3),
        "the packaged cairn ended with {} instead of 3",
        whoami.status
    );
    Ok(())
}

/// The first account, with the configuration as it is installed.
fn check_server_config(root: &Root, data: &Path) -> Result<()> {
    fs::create_dir_all(data)?;
    let mut add = Command::new(root.existing_path("usr/bin/cairn-server")?)
        .args(["user", "add", "ada@example.com", "--password-stdin"])
        .arg("--config")
        .arg(root.existing_path("etc/cairn-server/config.toml.dpkg-new")?)
        .arg("--data")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    add.stdin
        .take()
        .context("the input is a pipe")?
        .write_all(b"correct horse battery\n")?;
    let status = add.wait()?;
    ensure!(
        status.success(),
        "the packaged server can't make an account: {status}"
    );
    Ok(())
}
