//! A systemd user unit, or where systemd doesn't run, an XDG autostart entry.

use super::Autostart;
use crate::atomic_write::{FileMode, write_atomic};
use crate::dirs::create_private;
use crate::disk::in_context;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The directories of this user's units and autostart entries.
pub(super) struct Locations {
    config: PathBuf,
    has_systemd: bool,
}

pub(super) fn locations() -> io::Result<Locations> {
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(std::env::home_dir()?.join(".config")))
        .ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "this user has no home directory")
        })?;
    Ok(Locations {
        config,
        // The way `sd_booted(3)` tells.
        has_systemd: Path::new("/run/systemd/system").is_dir(),
    })
}

impl Locations {
    fn unit(&self, autostart: &Autostart) -> PathBuf {
        let name = format!("{}.service", autostart.id);
        self.config.join("systemd/user").join(name)
    }

    /// Returns the link that `systemctl --user enable` would make.
    fn wanted_link(&self, autostart: &Autostart) -> PathBuf {
        let name = format!("{}.service", autostart.id);
        self.config
            .join("systemd/user/default.target.wants")
            .join(name)
    }

    fn entry(&self, autostart: &Autostart) -> PathBuf {
        let name = format!("{}.desktop", autostart.id);
        self.config.join("autostart").join(name)
    }
}

pub(super) fn enable(autostart: &Autostart, locations: &Locations) -> io::Result<String> {
    if !locations.has_systemd {
        let entry = locations.entry(autostart);
        write(&entry, &desktop_entry(autostart))?;
        return Ok(format!("wrote {}", entry.display()));
    }
    let (unit, wanted) = (locations.unit(autostart), locations.wanted_link(autostart));
    write(&unit, &systemd_unit(autostart))?;
    if let Some(dir) = wanted.parent() {
        create_private(dir)?;
    }
    match std::os::unix::fs::symlink(&unit, &wanted) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
            return Err(in_context("make the link", &wanted, e));
        }
        _ => {}
    }
    reload();
    Ok(format!("wrote {} and enabled it", unit.display()))
}

pub(super) fn disable(autostart: &Autostart, locations: &Locations) -> io::Result<()> {
    let files = [
        locations.wanted_link(autostart),
        locations.unit(autostart),
        locations.entry(autostart),
    ];
    for file in files {
        match std::fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(in_context("remove", &file, e));
            }
            _ => {}
        }
    }
    if locations.has_systemd {
        reload();
    }
    Ok(())
}

pub(super) fn is_enabled(autostart: &Autostart, locations: &Locations) -> bool {
    locations.wanted_link(autostart).symlink_metadata().is_ok()
        || locations.entry(autostart).exists()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        create_private(dir)?;
    }
    write_atomic(path, text.as_bytes(), FileMode::Inherit)
}

/// Reloads the units, which only spares the user a login until this one is known: a failure changes nothing.
fn reload() {
    let _ = Command::new("systemctl")
        .args(["--user", "daemon-reload"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

fn systemd_unit(autostart: &Autostart) -> String {
    // Quoting as in systemd.service(5), "Command lines".
    let command: Vec<String> = autostart
        .command()
        .iter()
        .map(|word| {
            let escaped = word
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('%', "%%")
                .replace('$', "$$");
            format!("\"{escaped}\"")
        })
        .collect();
    format!(
        "[Unit]\nDescription=Cairn folder sync\n\n\
         [Service]\nExecStart={}\nRestart=on-failure\nRestartSec=5\nTimeoutStopSec=10\n\n\
         [Install]\nWantedBy=default.target\n",
        command.join(" ")
    )
}

fn desktop_entry(autostart: &Autostart) -> String {
    // Quoting as in the Desktop Entry Specification, "The Exec key": twice for backslashes.
    let command: Vec<String> = autostart
        .command()
        .iter()
        .map(|word| {
            let mut quoted = String::from("\"");
            for c in word.chars() {
                match c {
                    '"' | '`' | '$' => quoted.extend(['\\', '\\', c]),
                    '\\' => quoted.push_str("\\\\\\\\"),
                    '%' => quoted.push_str("%%"),
                    other => quoted.push(other),
                }
            }
            quoted.push('"');
            quoted
        })
        .collect();
    format!(
        "[Desktop Entry]\nType=Application\nName=Cairn\nComment=Keeps folders in sync\n\
         Exec={}\nNoDisplay=true\n",
        command.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    fn autostart() -> Autostart {
        Autostart::new(
            Path::new("/opt/my apps/100%/cairn"),
            &Home::at(Path::new("/home/a b/\"x\"")),
        )
    }

    fn locations(dir: &Path, has_systemd: bool) -> Locations {
        Locations {
            config: dir.to_path_buf(),
            has_systemd,
        }
    }

    #[test]
    fn a_unit_is_written_enabled_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let locations = locations(dir.path(), true);
        let autostart = autostart();
        assert!(!is_enabled(&autostart, &locations));
        enable(&autostart, &locations).unwrap();
        enable(&autostart, &locations).unwrap();
        assert!(is_enabled(&autostart, &locations));
        let unit = std::fs::read_to_string(locations.wanted_link(&autostart)).unwrap();
        let line =
            "ExecStart=\"/opt/my apps/100%%/cairn\" \"--home\" \"/home/a b/\\\"x\\\"\" \"daemon\"";
        assert!(unit.lines().any(|found| found == line), "{unit}");
        disable(&autostart, &locations).unwrap();
        disable(&autostart, &locations).unwrap();
        assert!(!is_enabled(&autostart, &locations));
        assert!(!locations.unit(&autostart).exists());
    }

    #[test]
    fn without_systemd_an_autostart_entry_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let locations = locations(dir.path(), false);
        let autostart = autostart();
        enable(&autostart, &locations).unwrap();
        assert!(is_enabled(&autostart, &locations));
        let entry = std::fs::read_to_string(locations.entry(&autostart)).unwrap();
        let line =
            "Exec=\"/opt/my apps/100%%/cairn\" \"--home\" \"/home/a b/\\\\\"x\\\\\"\" \"daemon\"";
        assert!(entry.lines().any(|found| found == line), "{entry}");
        disable(&autostart, &locations).unwrap();
        assert!(!is_enabled(&autostart, &locations));
    }

    #[test]
    fn two_homes_start_side_by_side() {
        let exe = Path::new("/usr/bin/cairn");
        let one = Autostart::new(exe, &Home::at(Path::new("/one")));
        let two = Autostart::new(exe, &Home::at(Path::new("/two")));
        assert_ne!(one.id, two.id);
    }

    #[test]
    fn what_an_earlier_version_wrote_is_found_under_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let locations = locations(dir.path(), false);
        let autostart = autostart();
        let former = autostart.former_autostart().unwrap();
        assert_ne!(former.id, autostart.id);
        enable(&former, &locations).unwrap();
        assert!(autostart.is_enabled_at(&locations));
        autostart.enable_at(&locations).unwrap();
        assert!(!locations.entry(&former).exists());
        assert!(locations.entry(&autostart).exists());
        enable(&former, &locations).unwrap();
        autostart.disable_at(&locations).unwrap();
        assert!(!autostart.is_enabled_at(&locations));
    }
}
