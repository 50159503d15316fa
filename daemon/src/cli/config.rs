//! `cairn config`: the settings in `config.toml`.

use crate::app::App;
use crate::config::{Config, SETTINGS, Setting};
use crate::failure::CommandResult;
use crate::output::table::{Align, Table};
use cairn_control::typed;
use serde_json::{Map, Value, json};

/// Show or change settings
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show one setting, or all [default]
    Get { key: Option<String> },
    /// Change a setting; a running daemon takes it over
    Set { key: String, value: String },
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::Set { key, value }) => {
            Config::store(&app.home, &key, &value)?;
            if let Some(client) = app.running_daemon().await? {
                client.send(typed::Reload {}).await?;
            }
            get(app, Some(&key))
        }
        Some(Action::Get { key }) => get(app, key.as_deref()),
        None => get(app, None),
    }
}

fn get(app: &App, key: Option<&str>) -> CommandResult {
    let config = Config::load(&app.home)?;
    if let Some(key) = key {
        let value = Setting::find(key)?.show(&config);
        // Without the quotes of a text: a script takes it as it is.
        match document(&value) {
            Value::String(text) => app.out.line(text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => app.out.line(&value),
        }
        app.out.json(&json!({ key: document(&value) }));
        return Ok(());
    }
    let mut table = Table::new(&[
        ("KEY", Align::Left),
        ("VALUE", Align::Left),
        ("WHAT IT IS", Align::Left),
    ]);
    let mut all = Map::new();
    for setting in SETTINGS {
        let value = setting.show(&config);
        all.insert(setting.key.to_owned(), document(&value));
        table.row([
            setting.key.to_owned(),
            value,
            setting.description.to_owned(),
        ]);
    }
    app.out
        .line(format_args!("{}", app.home.config_file().display()));
    table.print(&app.out, "");
    app.out.json(&all);
    Ok(())
}

/// A value as TOML writes it is, for numbers, booleans and plain texts, also JSON.
fn document(value: &str) -> Value {
    serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))
}
