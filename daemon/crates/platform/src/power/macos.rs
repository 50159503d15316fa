//! Power on macOS: the program `pmset`.

use super::PowerSource;

#[cfg(target_os = "macos")]
pub(super) fn power_source() -> PowerSource {
    std::process::Command::new("pmset")
        .args(["-g", "batt"])
        .output()
        .map_or(PowerSource::Unknown, |found| {
            read_pmset(&String::from_utf8_lossy(&found.stdout))
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_pmset_is_parsed() {
        let battery = "Now drawing from 'Battery Power'\n -InternalBattery-0 80%; discharging";
        assert_eq!(read_pmset(battery), PowerSource::Battery);
        assert_eq!(
            read_pmset("Now drawing from 'AC Power'"),
            PowerSource::Mains
        );
        assert_eq!(read_pmset(""), PowerSource::Unknown);
    }
}
