//! `cairn mcp install`: the entry that makes an assistant's program start this server.

mod client;
mod config;

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use client::Client;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show or write the configuration of an assistant's program
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The program
    #[arg(long, value_enum)]
    client: Client,
    /// Let the program start the server with --lockdown, which withholds texts of others
    #[arg(long)]
    lockdown: bool,
    /// Write it into the program's configuration file instead of printing it; other entries stay
    #[arg(long)]
    write: bool,
    /// Another configuration file than the program's own
    #[arg(long, value_name = "FILE", requires = "write")]
    file: Option<PathBuf>,
}

pub(super) fn run(app: &App, args: Args) -> CommandResult {
    let entry = entry(app, args.client, args.lockdown)?;
    if !args.write {
        let (text, whole) = config::entry_text(args.client.format(), entry)?;
        app.out.line(text);
        app.out.json(&whole);
        return Ok(());
    }
    let file = args.file.or_else(|| args.client.file()).ok_or_else(|| {
        Failure::failed("this user has no home: name the program's configuration with --file")
    })?;
    config::add(&file, args.client.format(), entry)?;
    app.out.line(format_args!(
        "Wrote {}. Restart the program to see the tools.",
        file.display()
    ));
    app.out.json(&json!({ "written": file }));
    Ok(())
}

/// Returns the entry with which the program starts this server. The account is the one that the home is logged in to;
/// there is no secret in the entry.
fn entry(app: &App, client: Client, lockdown: bool) -> CommandResult<Value> {
    let (exe, mut arguments) = server_command(app)?;
    if lockdown {
        arguments.push("--lockdown".to_owned());
    }
    let mut entry = json!({ "command": exe, "args": arguments });
    if client.names_transport() {
        entry["type"] = json!("stdio");
    }
    Ok(entry)
}

/// Returns the program and the arguments with which an assistant's program starts this server: this very program, on
/// this very home.
pub(super) fn server_command(app: &App) -> CommandResult<(PathBuf, Vec<String>)> {
    let exe = std::env::current_exe().context("find the program itself")?;
    let mut arguments = Vec::new();
    if !app.home.is_default() {
        arguments.push("--home".to_owned());
        arguments.push(app.home.data_dir().display().to_string());
    }
    arguments.push("mcp".to_owned());
    Ok((exe, arguments))
}
