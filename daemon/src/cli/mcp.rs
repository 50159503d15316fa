//! `cairn mcp`: the tools for AI assistants on stdin and stdout, and `install` and `bundle`, which
//! make a client start them.
//!
//! The mcp crate says what tools there are and what they do; here is where accounts come from.

mod account;
mod bundle;
mod disk;
mod install;
mod resting;
mod rewind;
mod run_task;
mod sessions;
mod skills;
mod tasks;
mod trust;

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use cairn_mcp::{Account, Confirm, ForeignTexts, ServeError, Server, Settings, ToolFilter};
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
    #[command(flatten)]
    safety: Safety,
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
    ///
    /// The same as CAIRN_MCP_READ_ONLY=true.
    #[arg(long)]
    read_only: bool,
}

#[derive(clap::Args, Debug)]
struct Safety {
    /// Let tools use files in this folder, and in no others
    ///
    /// Without it they may use the synced folders, the downloads folder, the temporary folder and those
    /// that the assistant's program names. Hidden files, start-up files and Cairn's own are refused in
    /// all of them. May be repeated; CAIRN_MCP_ALLOW_DIRS takes a list as PATH does.
    #[arg(long = "allow-dir", value_name = "FOLDER")]
    allow_dirs: Vec<PathBuf>,
    /// Replace local files without asking
    ///
    /// The same as CAIRN_MCP_OVERWRITE=true.
    #[arg(long)]
    overwrite: bool,
    /// Ask a person before every change (always), before what can't be undone, costs money or shares
    /// files (risky, the default), or never
    ///
    /// The same as CAIRN_MCP_CONFIRM.
    #[arg(long, value_name = "WHEN")]
    confirm: Option<String>,
    /// Withhold all texts that others may have written: contents, names, comments, descriptions
    ///
    /// The assistant works with ids, sizes, times and kinds, and with paths that you name. The same as
    /// CAIRN_MCP_LOCKDOWN=true.
    #[arg(long)]
    lockdown: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Install(install::Args),
    Bundle(bundle::Args),
    Skills(skills::Args),
    #[command(hide = true)]
    RunTask(run_task::Args),
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    match args.action {
        Some(Action::Install(args)) => return install::run(app, args),
        Some(Action::Bundle(args)) => return bundle::run(app, &args),
        Some(Action::Skills(args)) => return skills::run(app, &args),
        Some(Action::RunTask(args)) => return run_task::run(app, &args).await,
        None => {}
    }
    if args.print_tools {
        let reference = cairn_mcp::reference();
        if app.out.json {
            let document = serde_json::json!({ "format": "markdown", "reference": reference });
            app.out.json(&document);
        } else {
            app.out.raw(&reference);
        }
        return Ok(());
    }
    let tasks = tasks::HomeTasks::new(app.home.clone());
    tasks.forget_old();
    let account = account::find(app)?;
    let rewinder = rewind::HomeRewinder::new(app.home.clone(), account.url.clone());
    let settings = Settings {
        account,
        filter: filter(args.offer)?,
        confirm: confirm(args.safety.confirm)?,
        trust: Arc::new(trust::HomeTrust {
            home: app.home.clone(),
        }),
        files: Arc::new(disk::Disk::new(app, args.safety.allow_dirs)?),
        overwrite: args.safety.overwrite || is_on("CAIRN_MCP_OVERWRITE")?,
        daemon: daemon(app)?,
        sessions: Some(Arc::new(sessions::HomeSessions::new(app.home.clone()))),
        rewinder: Some(Arc::new(rewinder)),
        foreign_texts: foreign_texts(args.safety.lockdown)?,
        tasks: Some(Arc::new(tasks)),
    };
    let server = Server::new(settings).map_err(serve_failure)?;
    let input = resting::RestingInput::new(tokio::io::stdin());
    tokio::select! {
        served = server.serve(input, tokio::io::stdout()) => served.map_err(serve_failure),
        stopped = process::wait_for_stop_request() => stopped.context("listen for signals"),
    }
}

/// Returns a server of the account that this machine is logged in to, of which a person takes sessions back.
pub(super) fn server_of_login(app: &App) -> CommandResult<Server> {
    let settings = unattended(app, account::from_login(app)?)?;
    Server::new(settings).map_err(serve_failure)
}

/// Returns the settings of a server without a client: what it does was asked for and confirmed before.
fn unattended(app: &App, account: Account) -> CommandResult<Settings> {
    Ok(Settings {
        account,
        filter: ToolFilter::default(),
        confirm: Confirm::Never,
        trust: Arc::new(trust::HomeTrust {
            home: app.home.clone(),
        }),
        files: Arc::new(disk::Disk::new(app, Vec::new())?),
        overwrite: false,
        daemon: None,
        sessions: Some(Arc::new(sessions::HomeSessions::new(app.home.clone()))),
        rewinder: None,
        foreign_texts: ForeignTexts::Fenced,
        tasks: None,
    })
}

fn filter(offer: Offer) -> CommandResult<ToolFilter> {
    // An empty variable counts as unset.
    let given = |names: Vec<String>| -> Vec<String> {
        names
            .iter()
            .map(|name| name.trim().to_owned())
            .filter(|name| !is_unset(name))
            .collect()
    };
    Ok(ToolFilter {
        toolsets: given(offer.toolsets),
        tools: given(offer.tools),
        exclude: given(offer.exclude_tools),
        read_only: offer.read_only || is_on("CAIRN_MCP_READ_ONLY")?,
    })
}

fn confirm(flag: Option<String>) -> CommandResult<Confirm> {
    let (name, value) = match flag {
        Some(value) => ("--confirm", Some(value)),
        None => ("CAIRN_MCP_CONFIRM", variable("CAIRN_MCP_CONFIRM")?),
    };
    match value.as_deref() {
        Some("always") => Ok(Confirm::Always),
        None | Some("risky" | "auto") => Ok(Confirm::Risky),
        Some("never") => Ok(Confirm::Never),
        Some(other) => Err(Failure::usage(format!(
            "{name} is `{other}` (use always, risky or never)"
        ))),
    }
}

fn foreign_texts(flag: bool) -> CommandResult<ForeignTexts> {
    Ok(if flag || is_on("CAIRN_MCP_LOCKDOWN")? {
        ForeignTexts::Withheld
    } else {
        ForeignTexts::Fenced
    })
}

/// The socket of this home's daemon, if the home has an account or an index and the tools are wanted. The
/// daemon may be started later: hosts start this program at login, before it.
fn daemon(app: &App) -> CommandResult<Option<PathBuf>> {
    match variable("CAIRN_MCP_SYNC")?.as_deref() {
        Some("off") => return Ok(None),
        None | Some("auto" | "on") => {}
        Some(other) => {
            return Err(Failure::usage(format!(
                "CAIRN_MCP_SYNC is `{other}` (use auto or off)"
            )));
        }
    }
    let used = app.home.account_file().exists() || app.home.index_file().exists();
    Ok(used.then(|| app.home.socket_path()))
}

/// Reads a variable that is true or false. Anything else is an error: a setting that nobody understood must not let
/// files be replaced, nor texts through.
fn is_on(name: &str) -> CommandResult<bool> {
    match variable(name)?
        .map(|text| text.to_ascii_lowercase())
        .as_deref()
    {
        None | Some("0" | "n" | "no" | "f" | "false" | "off") => Ok(false),
        Some("1" | "y" | "yes" | "t" | "true" | "on") => Ok(true),
        Some(other) => Err(Failure::usage(format!(
            "{name} is `{other}` (use true or false)"
        ))),
    }
}

/// Recognizes what hosts put into a variable for a setting that nobody filled in.
fn is_unset(text: &str) -> bool {
    text.is_empty() || (text.starts_with("${") && text.ends_with('}'))
}

/// Returns a variable's text; `None` if it is unset, empty or a placeholder.
fn variable(name: &str) -> CommandResult<Option<String>> {
    match std::env::var(name) {
        Ok(text) if is_unset(text.trim()) => Ok(None),
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::usage(format!("{name} is not valid UTF-8 text")))
        }
    }
}

fn serve_failure(error: ServeError) -> Failure {
    match error {
        ServeError::ToolFilter(_) | ServeError::Account(_) => Failure::usage(error.to_string()),
        ServeError::Handshake(_) | ServeError::Ended(_) => Failure::failed(error.to_string()),
    }
}
