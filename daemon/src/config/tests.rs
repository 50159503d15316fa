//! Settings that a person may write, and the messages about wrong ones.

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    (dir, home)
}

#[test]
fn a_typo_names_the_line_and_the_nearest_key() {
    let text = "# mine\n[limits]\nup = \"2MB\"\ndwon = 5\n";
    assert_eq!(
        Config::parse(text),
        Err("line 4: there is no setting `limits.dwon`: did you mean `limits.down`?".into())
    );
    let text = "[limit]\nup = 1\n";
    assert_eq!(
        Config::parse(text),
        Err("line 1: there is no setting `limit`: did you mean `limits`?".into())
    );
    let text = "up = 5\n";
    assert_eq!(
        Config::parse(text),
        Err("line 1: there is no setting `up`: did you mean `limits.up`?".into())
    );
    let text = "colour = true\n";
    let message = Config::parse(text).unwrap_err();
    assert!(
        message.starts_with("line 1: there is no setting `colour`: there are limits.up, "),
        "{message}"
    );
}

#[test]
fn a_value_of_another_type_names_what_it_takes() {
    let message = Config::parse("\n[sync]\nparallel = \"many\"\n").unwrap_err();
    assert_eq!(
        message,
        "line 3: `sync.parallel` takes a number from 1 to 16"
    );
    let message = Config::parse("[sync]\ndeletion_gate = \"101%:5\"\n").unwrap_err();
    assert!(
        message.starts_with("line 2: `sync.deletion_gate` takes \"PERCENT%:FILES:MOST\""),
        "{message}"
    );
    let message = Config::parse("[limits\nup = 1\n").unwrap_err();
    assert!(message.starts_with("line 1 isn't valid TOML"), "{message}");
}

#[test]
fn all_settings_are_read_in_every_spelling_of_toml() {
    let text = "limits = { up = 500_000, down = \"1.5MiB\" }\nsync.rescan_minutes = 5\n[pause]\non_battery = true\n";
    let config = Config::parse(text).unwrap();
    assert_eq!(
        config.limits,
        Limits {
            up: Some(500_000),
            down: Some(1_572_864)
        }
    );
    assert_eq!(config.rescan_every, Duration::from_secs(300));
    assert!(config.pause_on_battery && !config.pause_on_metered);
    assert_eq!(Config::parse("").unwrap(), Config::default());
}

#[test]
fn storing_keeps_comments_and_reads_back() {
    let (_dir, home) = home();
    fs::write(home.config_file(), "# keep me\n[limits]\nup = 1 # one\n").unwrap();
    Config::store(&home, "limits.down", "3MB").unwrap();
    Config::store(&home, "pause.on_metered", "true").unwrap();
    let text = fs::read_to_string(home.config_file()).unwrap();
    assert!(
        text.starts_with("# keep me\n[limits]\nup = 1 # one\n"),
        "{text}"
    );
    let config = Config::load(&home).unwrap();
    assert_eq!(
        config.limits,
        Limits {
            up: Some(1),
            down: Some(3_000_000)
        }
    );
    assert!(config.pause_on_metered);
}

#[test]
fn a_value_that_does_not_fit_is_not_stored() {
    let (_dir, home) = home();
    for (key, value) in [
        ("sync.parallel", "99"),
        ("limits.up", "fast"),
        ("limits.up_schedule", "in the morning"),
        ("limits.down_schedule", "08:00-18:00 1MB, 09:00-10:00 off"),
        ("nonsense", "1"),
        ("log.level", "a=b=c"),
    ] {
        assert!(Config::store(&home, key, value).is_err(), "{key}");
    }
    assert!(!home.config_file().exists());
}

#[test]
fn every_value_in_force_can_be_written_back() {
    let config = Config {
        limits: Limits {
            up: Some(7),
            down: None,
        },
        up_schedule: RateSchedule::parse("08:00-18:00 1MB/s, 22:00-06:00 off").unwrap(),
        deletion_gate: None,
        parallel: 9,
        ..Config::default()
    };
    for setting in SETTINGS {
        let (table, name) = setting.key.split_once('.').unwrap();
        let text = format!("[{table}]\n{name} = {}\n", setting.show(&config));
        let read = Config::parse(&text).unwrap();
        assert_eq!(
            setting.show(&read),
            setting.show(&config),
            "{}",
            setting.key
        );
    }
}

#[test]
fn rates_and_gates_on_the_command_line() {
    assert_eq!(parse_rate("2MB/s"), Ok(Some(2_000_000)));
    assert_eq!(parse_rate("off"), Ok(None));
    assert_eq!(parse_rate("0"), Ok(None));
    assert!(parse_rate("2 parsecs").is_err());
    assert!(parse_rate("-1").is_err());
    assert_eq!(
        parse_gate("30%:100"),
        Ok(Some(DeletionGate {
            percent: 30,
            files: 100,
            most: 1000,
        }))
    );
    assert_eq!(
        parse_gate("30%:100:5"),
        Ok(Some(DeletionGate {
            percent: 30,
            files: 100,
            most: 5,
        }))
    );
    assert!(parse_gate("30%:100:").is_err());
    assert_eq!(parse_gate("off"), Ok(None));
    assert!(parse_gate("30:100").is_err());
}
