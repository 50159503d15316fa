//! Whether the machine runs on its battery, and whether its network is metered.
//!
//! Gives facts where the system has them and `Unknown` elsewhere; what to do about them is a setting.

use std::path::Path;

/// Where the power comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PowerSource {
    /// Plugged in, or a machine without a battery.
    Mains,
    Battery,
    Unknown,
}

/// Whether traffic costs money or volume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    Metered,
    Unmetered,
    Unknown,
}

/// Asks the system for its source of power.
#[must_use]
pub fn power_source() -> PowerSource {
    if cfg!(target_os = "linux") {
        read_supplies(Path::new("/sys/class/power_supply"))
    } else if cfg!(target_os = "macos") {
        std::process::Command::new("pmset")
            .args(["-g", "batt"])
            .output()
            .map_or(PowerSource::Unknown, |found| {
                let text = String::from_utf8_lossy(&found.stdout).into_owned();
                read_pmset(&text)
            })
    } else {
        PowerSource::Unknown
    }
}

/// Asks the system's network service (NetworkManager on Linux) about the connection in use.
#[must_use]
pub fn network() -> Network {
    #[cfg(target_os = "linux")]
    {
        linux::network()
    }
    #[cfg(not(target_os = "linux"))]
    Network::Unknown
}

/// From the kernel's `Documentation/ABI/testing/sysfs-class-power`.
fn read_supplies(dir: &Path) -> PowerSource {
    let Ok(supplies) = std::fs::read_dir(dir) else {
        return PowerSource::Unknown;
    };
    let mut discharging = false;
    for supply in supplies.flatten() {
        let read = |file: &str| {
            let text = std::fs::read_to_string(supply.path().join(file)).unwrap_or_default();
            text.trim().to_owned()
        };
        match read("type").as_str() {
            "Mains" | "USB" if read("online") == "1" => return PowerSource::Mains,
            // The battery of a mouse says nothing about the machine.
            "Battery" if read("scope") != "Device" && read("status") == "Discharging" => {
                discharging = true;
            }
            _ => {}
        }
    }
    if discharging {
        PowerSource::Battery
    } else {
        PowerSource::Mains
    }
}

fn read_pmset(text: &str) -> PowerSource {
    if text.contains("'Battery Power'") {
        PowerSource::Battery
    } else if text.contains("'AC Power'") {
        PowerSource::Mains
    } else {
        PowerSource::Unknown
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Network;
    use crate::patience::within;
    use std::time::Duration;
    use zbus::blocking::{Connection, Proxy};

    const NAME: &str = "org.freedesktop.NetworkManager";
    const PATH: &str = "/org/freedesktop/NetworkManager";

    pub(super) fn network() -> Network {
        let ask = || -> zbus::Result<u32> {
            let bus = Connection::system()?;
            Proxy::new(&bus, NAME, PATH, NAME)?.get_property("Metered")
        };
        match within(Duration::from_secs(2), ask) {
            Some(Ok(answer)) => convert(answer),
            Some(Err(_)) | None => Network::Unknown,
        }
    }

    /// From NetworkManager's `NMMetered`: yes, no, and both as a guess.
    pub(super) fn convert(answer: u32) -> Network {
        match answer {
            1 | 3 => Network::Metered,
            2 | 4 => Network::Unmetered,
            _ => Network::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supplies(found: &[(&str, &[(&str, &str)])]) -> PowerSource {
        let dir = tempfile::tempdir().unwrap();
        for (name, files) in found {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            for (file, text) in *files {
                std::fs::write(dir.path().join(name).join(file), format!("{text}\n")).unwrap();
            }
        }
        read_supplies(dir.path())
    }

    #[test]
    fn a_discharging_battery_counts_unless_plugged_in() {
        let battery = (
            "BAT0",
            &[("type", "Battery"), ("status", "Discharging")][..],
        );
        let plugged = ("AC", &[("type", "Mains"), ("online", "1")][..]);
        let unplugged = ("AC", &[("type", "Mains"), ("online", "0")][..]);
        assert_eq!(supplies(&[battery, unplugged]), PowerSource::Battery);
        assert_eq!(supplies(&[battery, plugged]), PowerSource::Mains);
        assert_eq!(supplies(&[]), PowerSource::Mains);
    }

    #[test]
    fn the_battery_of_a_mouse_does_not_count() {
        let files = [
            ("type", "Battery"),
            ("status", "Discharging"),
            ("scope", "Device"),
        ];
        assert_eq!(supplies(&[("hid-1", &files)]), PowerSource::Mains);
    }

    #[test]
    fn what_pmset_says_is_understood() {
        let battery = "Now drawing from 'Battery Power'\n -InternalBattery-0 80%; discharging";
        assert_eq!(read_pmset(battery), PowerSource::Battery);
        assert_eq!(
            read_pmset("Now drawing from 'AC Power'"),
            PowerSource::Mains
        );
        assert_eq!(read_pmset(""), PowerSource::Unknown);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_guess_of_the_network_service_counts_as_its_answer() {
        assert_eq!(linux::convert(3), Network::Metered);
        assert_eq!(linux::convert(4), Network::Unmetered);
        assert_eq!(linux::convert(0), Network::Unknown);
    }
}
