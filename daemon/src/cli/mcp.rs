//! `cairn mcp`: the tools for AI assistants on stdin and stdout, and how a client is told of them.
//!
//! What tools there are and what they do is the mcp crate's; here is where accounts come from.

mod account;
mod install;

use crate::app::App;
use crate::failure::{Doing as _, Failure, Outcome};
use cairn_mcp::{Confirm, ServeError, Server, Settings, ToolFilter};
use cairn_platform::process;
use std::path::PathBuf;
use std::sync::Arc;

/// Serve AI assistants on stdin and stdout (Model Context Protocol)
///
/// The account comes from SERVICE_API_KEY, SERVICE_API_URL, SERVICE_PASSPHRASE and
/// SERVICE_FILE_SERVER_URL, or else is the one that this machine is logged in to.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    offer: Offer,
    /// Print the reference of all tools as Markdown, and end
    #[arg(long)]
    print_tools: bool,
}

#[derive(clap::Args, Debug)]
struct Offer {
    /// Offer only these groups of tools
    #[arg(
        long,
        value_name = "GROUPS",
        value_delimiter = ',',
        env = "CAIRN_MCP_TOOLSETS",
        hide_env_values = true
    )]
    toolsets: Vec<String>,
    /// Offer these tools, besides those of --toolsets
    #[arg(
        long,
        value_name = "TOOLS",
        value_delimiter = ',',
        env = "CAIRN_MCP_TOOLS",
        hide_env_values = true
    )]
    tools: Vec<String>,
    /// Leave these tools out
    #[arg(
        long,
        value_name = "TOOLS",
        value_delimiter = ',',
        env = "CAIRN_MCP_EXCLUDE_TOOLS",
        hide_env_values = true
    )]
    exclude_tools: Vec<String>,
    /// Offer only tools that change nothing
    // In the environment `1` and `yes` mean the same as `true`, and an empty variable says nothing.
    #[arg(
        long,
        env = "CAIRN_MCP_READ_ONLY",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    read_only: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Install(install::Args),
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    if let Some(Action::Install(args)) = args.action {
        return install::run(app, args);
    }
    if args.print_tools {
        app.out.raw(&cairn_mcp::reference());
        return Ok(());
    }
    let settings = Settings {
        account: account::find(app)?,
        filter: filter(args.offer),
        confirm: confirm()?,
        files: Arc::new(account::Disk),
        daemon: daemon(app).await?,
    };
    let server = Server::new(settings).map_err(refused)?;
    tokio::select! {
        served = server.serve_stdio() => served.map_err(refused),
        stopped = process::stop_requested() => stopped.doing("listen for signals"),
    }
}

fn filter(offer: Offer) -> ToolFilter {
    // An empty variable says nothing, as an unset one.
    let said = |names: Vec<String>| -> Vec<String> {
        names
            .iter()
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect()
    };
    ToolFilter {
        toolsets: said(offer.toolsets),
        tools: said(offer.tools),
        exclude: said(offer.exclude_tools),
        read_only: offer.read_only,
    }
}

fn confirm() -> Outcome<Confirm> {
    match variable("CAIRN_MCP_CONFIRM")?.as_deref() {
        None | Some("auto") => Ok(Confirm::Auto),
        Some("never") => Ok(Confirm::Never),
        Some(other) => Err(Failure::usage(format!(
            "CAIRN_MCP_CONFIRM is `{other}`: it takes auto or never"
        ))),
    }
}

/// The socket of this home's daemon, if it runs and its tools are wanted.
async fn daemon(app: &App) -> Outcome<Option<PathBuf>> {
    match variable("CAIRN_MCP_SYNC")?.as_deref() {
        Some("off") => return Ok(None),
        None | Some("auto" | "on") => {}
        Some(other) => {
            return Err(Failure::usage(format!(
                "CAIRN_MCP_SYNC is `{other}`: it takes auto or off"
            )));
        }
    }
    // A daemon that can't be asked, of another version perhaps, is none for these tools.
    let runs = matches!(app.running().await, Ok(Some(_)));
    Ok(runs.then(|| app.home.socket_path()))
}

/// A variable that says something.
fn variable(name: &str) -> Outcome<Option<String>> {
    match std::env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::usage(format!("{name} is no UTF-8 text")))
        }
    }
}

fn refused(error: ServeError) -> Failure {
    match error {
        ServeError::ToolFilter(_) | ServeError::Account(_) => Failure::usage(error.to_string()),
        ServeError::Handshake(_) | ServeError::Ended(_) => Failure::failed(error.to_string()),
    }
}
