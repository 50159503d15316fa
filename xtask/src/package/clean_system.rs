//! The README's five minutes in a Debian that was made a minute ago, with the packages installed as it says.
//!
//! It takes root, `debootstrap` and Debian's archive. The system has a network and processes of its own, so that
//! nothing of it is left running, and nothing of this machine's is in its way.

use super::build::build;
use super::contents::PACKAGES;
use super::sbom::Sboms;
use crate::run::{is_root, root, succeeds, target};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The oldest release that the packages are for.
const RELEASE: &str = "bookworm";
const PASSPHRASE: &str = "correct horse battery staple";
/// The packages that need no desktop.
const INSTALLED: [&str; 2] = ["cairn", "cairn-server"];

/// The account of a reader of the README.
const READER: &str = "reader";

/// Makes a system, installs the packages of the programs that the tests use, and does what the README says.
pub(crate) fn try_readme() -> Result<()> {
    need("debootstrap", "--version", "debootstrap")?;
    need("ip", "-V", "iproute2")?;
    for package in INSTALLED {
        let program = target().join("debug").join(package);
        ensure!(
            program.is_file(),
            "{} is missing: run `cargo build -p cairn -p cairn-server`",
            program.display()
        );
    }
    let readme = fs::read_to_string(root().join("README.md"))?;
    let script = script(&readme)?;
    let work = tempfile::tempdir()?;
    let system = work.path().join("system");
    println!("making a {RELEASE}, which takes a minute");
    let base = Command::new("debootstrap")
        .args(["--variant=minbase", "--include=adduser", RELEASE])
        .arg(&system)
        .output()?;
    ensure!(
        base.status.success(),
        "debootstrap failed (it needs root and the network):\n{}",
        String::from_utf8_lossy(&base.stdout)
    );
    let sboms = Sboms::read()?;
    for package in PACKAGES.iter().filter(|p| INSTALLED.contains(&p.name)) {
        build(
            package,
            &sboms,
            &target().join("debug"),
            &system.join("root"),
        )?;
    }
    fs::write(system.join("root/five-minutes.sh"), script)?;
    let installed = install(&system).output()?;
    ensure!(
        installed.status.success(),
        "the packages can't be installed:\n{}{}",
        String::from_utf8_lossy(&installed.stdout),
        String::from_utf8_lossy(&installed.stderr)
    );
    let output = run(&system).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    ensure!(
        output.status.success(),
        "the five minutes failed: {}",
        output.status
    );
    ensure!(
        printed.lines().any(|line| line == "hello"),
        "the second device has another file"
    );
    Ok(())
}

/// Does what the README says in a new Debian, where this machine allows to make one: Debian, and the right to make a
/// file system, processes and a network apart. Elsewhere it says that nothing was tried.
pub(crate) fn try_readme_if_allowed() -> Result<()> {
    let apart = ["--mount", "--pid", "--fork", "--net", "--", "true"];
    if !Path::new("/etc/debian_version").exists() || !is_root() || !succeeds("unshare", &apart) {
        println!("not tried: it takes Debian, root, and the right to use `unshare`");
        return Ok(());
    }
    try_readme()
}

/// Checks that a program of a Debian package is there.
fn need(program: &str, version: &str, package: &str) -> Result<()> {
    ensure!(
        succeeds(program, &[version]),
        "{program} is missing: run `apt-get install {package}`"
    );
    Ok(())
}

/// Returns the command that installs the packages, with all that they need from Debian's archive.
fn install(system: &Path) -> Command {
    let inside = format!(
        "set -e\n\
         cd /root\n\
         export DEBIAN_FRONTEND=noninteractive\n\
         apt-get update -qq\n\
         apt-get install -y -qq --no-install-recommends ./cairn_*.deb ./cairn-server_*.deb\n\
         adduser --quiet --disabled-password --gecos '' {READER}\n\
         echo '{PASSPHRASE}' > /home/{READER}/passphrase\n\
         install -o {READER} -m 600 five-minutes.sh /home/{READER}/five-minutes.sh\n\
         chown {READER} /home/{READER}/passphrase"
    );
    enter(system, &[], "true", &inside)
}

/// Returns the command that runs the script as somebody who is not root, without a network but its own.
fn run(system: &Path) -> Command {
    let inside = format!("exec su -s /bin/bash - {READER} five-minutes.sh");
    // On this machine's side: the system has no `ip`.
    enter(system, &["--net"], "ip link set lo up", &inside)
}

/// Returns a command for a shell in the system; its processes end with it.
fn enter(system: &Path, apart: &[&str], before: &str, inside: &str) -> Command {
    let outside =
        format!("{before} && mount -t proc proc \"$0/proc\" && exec chroot \"$0\" sh -c \"$1\"");
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--pid", "--fork", "--kill-child"])
        .args(apart)
        .args(["--", "sh", "-c", &outside])
        .arg(system)
        .arg(inside)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

/// Returns the commands of the README with what a script needs before them.
fn script(readme: &str) -> Result<String> {
    let (_, section) = readme
        .split_once("## Five minutes")
        .context("the section is gone")?;
    let (_, block) = section.split_once("```sh\n").context("it has no block")?;
    let (block, _) = block.split_once("```").context("the block has no end")?;
    let started = "cairn-server --data ~/cairn-data &";
    ensure!(block.contains(started), "the README starts no server");
    let block = block.replacen(started, &format!("{started} server=$!; trap end EXIT;"), 1);
    let before = fs::read_to_string(root().join("tests/e2e/five-minutes.sh"))?;
    Ok(format!(
        "export ADDRESS=127.0.0.1:8787 SERVER=/usr/bin/cairn-server CAIRN_KDF_MEMORY_MIB=64 CAIRN_KDF_ITERATIONS=600000\n{before}{block}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::run_command;

    #[test]
    fn the_script_is_the_readmes() {
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
        let script = script(&readme).unwrap();
        assert!(script.contains("\ncat ~/Shared2/hello.txt\n"), "{script}");
        assert!(script.contains("trap end EXIT"), "{script}");
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("script");
        fs::write(&file, script).unwrap();
        run_command(Command::new("bash").arg("-n").arg(file)).unwrap();
    }
}
