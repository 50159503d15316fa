//! Installs what the checks need and the machine doesn't have: cargo's tools, and on Debian the
//! programs for the tests of keyring, clock and share page, and the libraries of a desktop. Node.js has to be
//! there. Elsewhere it says exactly what to install.

use crate::run::{cargo, is_root, run_command, succeeds};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// A cargo subcommand, and the package that brings it.
const CARGO_TOOLS: [(&str, &str); 2] = [("nextest", "cargo-nextest"), ("deny", "cargo-deny")];

/// A program, and the Debian package that brings it.
const PROGRAMS: [(&str, &str); 7] = [
    ("dbus-run-session", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
    ("chromium", "chromium"),
    ("faketime", "faketime"),
    ("systemd-analyze", "systemd"),
    ("openssl", "openssl"),
    ("strace", "strace"),
];

/// Debian packages that the tray is built with and that its tests run on, and PostgreSQL, whose programs are not on the
/// path.
const PACKAGES: [&str; 21] = [
    "postgresql",
    "libwebkit2gtk-4.1-dev",
    "libayatana-appindicator3-dev",
    "webkit2gtk-driver",
    "xvfb",
    "xauth",
    "dbus-x11",
    "openbox",
    "xfce4-panel",
    "xfconf",
    "xdotool",
    "fonts-dejavu-core",
    "libglib2.0-bin",
    "chromium",
    "binutils",
    "debootstrap",
    "iproute2",
    // Of the file managers that load our extensions, the libraries alone.
    "python3-gi",
    "gir1.2-nemo-3.0",
    "gir1.2-caja-2.0",
    "gir1.2-thunarx-3.0",
];

/// The library of Nautilus for its extensions: in Debian 12, and later.
const NAUTILUS: [&str; 2] = ["gir1.2-nautilus-4.0", "gir1.2-nautilus-4.1"];

/// The programs that Cairn is measured against.
const PEERS: [(&str, &str); 4] = [
    ("rclone", "rclone"),
    ("restic", "restic"),
    ("syncthing", "syncthing"),
    ("unison", "unison"),
];

pub(crate) fn run(bench: bool) -> Result<()> {
    for (subcommand, package) in CARGO_TOOLS {
        if succeeds(&format!("cargo-{subcommand}"), &[subcommand, "--version"]) {
            println!("{package} is there");
        } else {
            println!("{package} is missing: building it takes some minutes, once");
            run_command(cargo().args(["install", "--locked", package]))?;
        }
    }
    let mut wanted = PROGRAMS.to_vec();
    if bench {
        wanted.extend(PEERS);
    }
    let mut missing: Vec<&str> = wanted
        .iter()
        .filter(|(program, _)| !is_installed(program))
        .map(|(_, package)| *package)
        .collect();
    let of_release = NAUTILUS[usize::from(!is_bookworm())];
    let packages = PACKAGES.iter().chain([&of_release]);
    missing.extend(packages.filter(|package| !succeeds("dpkg", &["-s", package])));
    if missing.is_empty() {
        println!("system packages are there");
        return Ok(());
    }
    install(&missing)
}

fn install(packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if !Path::new("/etc/debian_version").exists() {
        bail!("install these with your system's package manager (Debian's names): {list}");
    }
    let prefix: &[&str] = if is_root() {
        &[]
    } else if succeeds("sudo", &["-n", "true"]) {
        &["sudo", "-n"]
    } else {
        bail!("run `sudo apt-get install {list}`, then try again");
    };
    println!("installing {list}");
    let apt = |arguments: &[&str]| {
        let words: Vec<&str> = prefix.iter().copied().chain(["apt-get"]).collect();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        run_command(&mut command)
    };
    apt(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments)
}

/// Returns whether this is Debian 12.
fn is_bookworm() -> bool {
    let release = std::fs::read_to_string("/etc/debian_version").unwrap_or_default();
    let number = release.split('.').next().unwrap_or_default().trim();
    number.parse::<u32>().is_ok_and(|number| number == 12)
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path_only() {
        assert!(is_installed("sh"));
        assert!(!is_installed("no-such-program-anywhere"));
    }
}
