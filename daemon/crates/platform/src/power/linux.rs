//! Power and network on Linux: sysfs, and NetworkManager over D-Bus.

use super::{Network, PowerSource};
use crate::timeout::run_with_timeout;
use std::path::Path;
use std::time::Duration;
use zbus::blocking::{Connection, Proxy};

const NAME: &str = "org.freedesktop.NetworkManager";
const PATH: &str = "/org/freedesktop/NetworkManager";
/// The service runs on this machine; it responds at once or not at all.
const TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn power_source() -> PowerSource {
    read_supplies(Path::new("/sys/class/power_supply"))
}

pub(super) fn network() -> Network {
    let metered = || -> zbus::Result<u32> {
        let bus = Connection::system()?;
        Proxy::new(&bus, NAME, PATH, NAME)?.get_property("Metered")
    };
    match run_with_timeout(TIMEOUT, metered) {
        Some(Ok(value)) => convert(value),
        Some(Err(_)) | None => Network::Unknown,
    }
}

/// Converts NetworkManager's `NMMetered`: yes, no, and both as a guess.
fn convert(value: u32) -> Network {
    match value {
        1 | 3 => Network::Metered,
        2 | 4 => Network::Unmetered,
        _ => Network::Unknown,
    }
}

/// Reads the power supplies (`Documentation/ABI/testing/sysfs-class-power` of the kernel).
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
            // The battery of a mouse doesn't power the machine.
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
    fn a_guess_of_the_network_service_counts_as_a_fact() {
        assert_eq!(convert(3), Network::Metered);
        assert_eq!(convert(4), Network::Unmetered);
        assert_eq!(convert(0), Network::Unknown);
    }
}
