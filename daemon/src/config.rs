//! `config.toml`: what a person sets once. A typo is an error that names the line and the nearest
//! known key, because a setting that is silently ignored is worse than none.

mod schedule;
mod value;

use crate::failure::{CommandResult, Context as _, Failure};
use cairn_control::Limits;
use cairn_model::{DeletionGate, Verification};
use cairn_platform::{FileMode, Home, wait_for_lock, write_atomic};
pub(crate) use schedule::{RateSchedule, minute_of_day};
use std::time::Duration;
use std::{fs, io};
use toml_edit::{Document, DocumentMut, Item, TableLike};
pub(crate) use value::{parse_gate, parse_rate};

/// The settings that are in force.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Config {
    pub(crate) limits: Limits,
    /// The limits in force instead at some times of the day.
    pub(crate) up_schedule: RateSchedule,
    pub(crate) down_schedule: RateSchedule,
    pub(crate) rescan_every: Duration,
    /// Number of transfers that run at once.
    pub(crate) parallel: usize,
    /// Blocks changes that have no valid seal of the account's devices until a person accepts them, or only warns.
    pub(crate) verify: Verification,
    /// The service may make new large files of equal ones that it has.
    pub(crate) server_copies: bool,
    /// The deletion gate of folders that are added without one of their own.
    pub(crate) deletion_gate: Option<DeletionGate>,
    pub(crate) pause_on_battery: bool,
    pub(crate) pause_on_metered: bool,
    /// A filter of the crate `tracing-subscriber`: a level, or `target=level,…`.
    pub(crate) log_level: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            up_schedule: RateSchedule::default(),
            down_schedule: RateSchedule::default(),
            rescan_every: Duration::from_secs(3600),
            parallel: 3,
            verify: Verification::default(),
            server_copies: true,
            deletion_gate: Some(DeletionGate::default()),
            pause_on_battery: false,
            pause_on_metered: false,
            log_level: "info".to_owned(),
        }
    }
}

/// A setting: its key in the file, its description, and the conversion between its value and a [`Config`].
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) description: &'static str,
    set: fn(&mut Config, &Item) -> Result<(), &'static str>,
    show: fn(&Config) -> String,
}

/// All settings; the file, `config get|set` and messages are made from this table.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "limits.up",
        description: "upload limit per second, such as \"2MB\"; \"off\" or 0 for none",
        set: |config, item| value::rate(item).map(|rate| config.limits.up = rate),
        show: |config| value::show_rate(config.limits.up),
    },
    Setting {
        key: "limits.down",
        description: "download limit per second, such as \"10MB\"; \"off\" or 0 for none",
        set: |config, item| value::rate(item).map(|rate| config.limits.down = rate),
        show: |config| value::show_rate(config.limits.down),
    },
    Setting {
        key: "limits.up_schedule",
        description: "other upload limits by the time of the day: \"08:00-18:00 1MB/s, 22:00-06:00 off\"; \"off\" for none",
        set: |config, item| value::schedule(item).map(|schedule| config.up_schedule = schedule),
        show: |config| format!("\"{}\"", config.up_schedule),
    },
    Setting {
        key: "limits.down_schedule",
        description: "other download limits by the time of the day, in the same way",
        set: |config, item| value::schedule(item).map(|schedule| config.down_schedule = schedule),
        show: |config| format!("\"{}\"", config.down_schedule),
    },
    Setting {
        key: "sync.rescan_minutes",
        description: "a full scan of every folder at least this often, 1 to 1440",
        set: |config, item| {
            value::number(item, 1..=1440, "a number from 1 to 1440")
                .map(|minutes| config.rescan_every = Duration::from_secs(minutes * 60))
        },
        show: |config| (config.rescan_every.as_secs() / 60).to_string(),
    },
    Setting {
        key: "sync.parallel",
        description: "files that are transferred at once in each direction, 1 to 16",
        set: |config, item| {
            value::number(item, 1..=16, "a number from 1 to 16")
                .map(|n| config.parallel = usize::try_from(n).unwrap_or(16))
        },
        show: |config| config.parallel.to_string(),
    },
    Setting {
        key: "sync.verify",
        description: "changes made without your keys: \"warn\" applies and marks them, \"strict\" blocks them until `cairn accept`",
        set: |config, item| value::verify(item).map(|mode| config.verify = mode),
        show: |config| format!("\"{}\"", config.verify),
    },
    Setting {
        key: "sync.server_copies",
        description: "a copy of a large file is made on the service, which learns that both are equal: true, or false to send it",
        set: |config, item| value::boolean(item).map(|on| config.server_copies = on),
        show: |config| config.server_copies.to_string(),
    },
    Setting {
        key: "sync.deletion_gate",
        description: "deletions of more than this share and number, or of MOST files whatever their share, wait for a person: \"PERCENT%:FILES:MOST\", or \"off\"",
        set: |config, item| value::gate(item).map(|gate| config.deletion_gate = gate),
        show: |config| value::show_gate(config.deletion_gate),
    },
    Setting {
        key: "pause.on_battery",
        description: "pause while the machine runs on its battery: true or false",
        set: |config, item| value::boolean(item).map(|on| config.pause_on_battery = on),
        show: |config| config.pause_on_battery.to_string(),
    },
    Setting {
        key: "pause.on_metered",
        description: "pause on metered networks: true or false",
        set: |config, item| value::boolean(item).map(|on| config.pause_on_metered = on),
        show: |config| config.pause_on_metered.to_string(),
    },
    Setting {
        key: "log.level",
        description: "error, warn, info, debug, trace, or a filter such as \"info,cairn_engine=debug\"",
        set: |config, item| value::text(item).map(|text| config.log_level = text),
        show: |config| format!("\"{}\"", config.log_level),
    },
];

impl Setting {
    /// The value in force, as it would stand in the file.
    pub(crate) fn show(&self, config: &Config) -> String {
        (self.show)(config)
    }

    /// Finds a setting by its key.
    pub(crate) fn find(key: &str) -> CommandResult<&'static Self> {
        SETTINGS
            .iter()
            .find(|setting| setting.key == key)
            .ok_or_else(|| Failure::usage(format!("there is no setting `{key}`: {}", nearest(key))))
    }
}

impl Config {
    /// Returns the engine's part.
    pub(crate) fn engine(&self) -> cairn_engine::Settings {
        cairn_engine::Settings {
            rescan_every: self.rescan_every,
            parallel: self.parallel,
            verify: self.verify,
            server_copies: self.server_copies,
        }
    }

    /// Returns the limits in force at a minute of the day.
    pub(crate) fn limits_at(&self, minute: u16) -> Limits {
        Limits {
            up: self.up_schedule.rate_at(minute, self.limits.up),
            down: self.down_schedule.rate_at(minute, self.limits.down),
        }
    }

    /// Reads the configuration of a home; without a file, the defaults.
    pub(crate) fn load(home: &Home) -> CommandResult<Self> {
        let path = home.config_file();
        Self::parse(&read(home)?)
            .map_err(|message| Failure::failed(format!("{} {message}", path.display())))
    }

    /// Reads a configuration. The error begins with the line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            format!(
                "line {line} isn't valid TOML: {}",
                error.message().lines().next().unwrap_or_default()
            )
        })?;
        let mut config = Self::default();
        walk(text, "", document.as_table(), &mut config)?;
        Ok(config)
    }

    /// Writes one setting into the file and keeps everything else in it as it is.
    pub(crate) fn store(home: &Home, key: &str, value: &str) -> CommandResult {
        let setting = Setting::find(key)?;
        let item = value::item(value);
        (setting.set)(&mut Self::default(), &item).map_err(|expected| {
            Failure::usage(format!("`{value}` doesn't fit {key}: it takes {expected}"))
        })?;
        let path = home.config_file();
        home.create()?;
        let lock = path.with_extension("lock");
        let _lock = wait_for_lock(&lock).context(format_args!("lock {}", lock.display()))?;
        let text = read(home)?;
        // Nothing is added to a file that is wrong already.
        Self::parse(&text)
            .map_err(|message| Failure::failed(format!("{} {message}", path.display())))?;
        let mut document: DocumentMut = text.parse().map_err(|error| {
            Failure::failed(format!("{} can't be changed: {error}", path.display()))
        })?;
        let (table, name) = key.split_once('.').unwrap_or(("", key));
        let entry = document
            .as_table_mut()
            .entry(table)
            .or_insert_with(toml_edit::table);
        if let Some(table) = entry.as_table_like_mut() {
            table.insert(name, item);
        }
        let text = document.to_string();
        Ok(write_atomic(&path, text.as_bytes(), FileMode::Inherit)?)
    }
}

fn read(home: &Home) -> CommandResult<String> {
    let path = home.config_file();
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(e).context(format_args!("read {}", path.display())),
    }
}

fn walk(
    text: &str,
    prefix: &str,
    table: &dyn TableLike,
    config: &mut Config,
) -> Result<(), String> {
    for (name, item) in table.iter() {
        let key = if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}.{name}")
        };
        let span = table
            .key(name)
            .and_then(toml_edit::Key::span)
            .or_else(|| item.span());
        let line = line_of(text, span.map_or(0, |span| span.start));
        if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
            (setting.set)(config, item)
                .map_err(|expected| format!("line {line}: `{key}` takes {expected}"))?;
            continue;
        }
        match item.as_table_like() {
            Some(inner)
                if SETTINGS
                    .iter()
                    .any(|s| s.key.starts_with(&format!("{key}."))) =>
            {
                walk(text, &key, inner, config)?;
            }
            Some(_) | None => {
                return Err(format!(
                    "line {line}: there is no setting `{key}`: {}",
                    nearest(&key)
                ));
            }
        }
    }
    Ok(())
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()
        .iter()
        .take(at)
        .filter(|b| **b == b'\n')
        .count()
        + 1
}

/// The known key that was probably meant, or all of them if none looks like it.
fn nearest(key: &str) -> String {
    let tables = SETTINGS.iter().filter_map(|s| s.key.split('.').next());
    let names = SETTINGS.iter().map(|s| s.key).chain(tables);
    // A key without its table counts as much as one with a letter wrong.
    let likeness = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        strsim::jaro_winkler(key, name).max(strsim::jaro_winkler(key, last))
    };
    let best = names
        .map(|name| (likeness(name), name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((likeness, name)) if likeness > 0.8 => format!("did you mean `{name}`?"),
        Some(_) | None => {
            let all: Vec<_> = SETTINGS.iter().map(|s| s.key).collect();
            format!("there are {}", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
