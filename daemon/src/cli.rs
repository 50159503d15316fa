//! The command line: one file per command, and the parts that several of them use.

mod accept;
mod activity;
mod add;
mod autostart;
mod bugreport;
mod cat;
mod compare;
mod complete;
mod completions;
mod config;
mod confirm;
mod conflicts;
mod copy;
mod daemon;
mod delete;
mod devices;
mod diff;
mod doctor;
mod download;
mod download_folder;
mod dry_run;
mod enum_values;
mod folders;
mod from_to;
mod help;
mod history;
mod ignore;
mod info;
mod keys;
mod limits;
mod list;
mod login;
mod logout;
mod logs;
mod man;
mod mcp;
mod mkdir;
mod r#move;
mod number;
mod passphrase;
mod pause;
mod prompt;
mod recovery_key;
mod remove;
mod resolve;
mod restore;
mod resume;
mod rewind;
mod search;
mod second_factor;
mod share;
mod start;
mod status;
mod status_lines;
mod sync;
mod teams;
#[cfg(test)]
mod tests;
mod tokens;
mod trash;
mod tree;
mod undo;
mod upload;
mod verify;
mod versions;
mod watch;
mod webhooks;
mod whoami;
mod why;

use crate::app::App;
use crate::failure::{CommandResult, Failure};
use crate::logging;
use crate::output::{self, Out};
use cairn_platform::Home;
use cairn_platform::Zone;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{FromArgMatches as _, Parser, Subcommand};
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Keeps folders on this machine in sync with an encrypted storage service.
#[derive(Parser, Debug)]
#[command(name = "cairn", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not logged in, 4 server unreachable,\n\
    5 conflict or needs a decision, 124 wait timed out."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The environment variable with the home.
const HOME_VARIABLE: &str = "CAIRN_HOME";

/// Returns the home of the flag, or of the variable where there is no flag. An empty variable counts as none, and is
/// left to [`Home::resolve`]; an empty flag is refused.
fn home_of(text: OsString, variable: Option<OsString>) -> Result<PathBuf, &'static str> {
    if text.is_empty() && variable.is_none_or(|variable| !variable.is_empty()) {
        return Err("it is empty: name a directory");
    }
    Ok(PathBuf::from(text))
}

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Options for every command")]
struct Global {
    /// Configuration, index, logs and socket; several homes on one machine are several devices
    #[arg(
        long,
        value_name = "DIR",
        env = HOME_VARIABLE,
        hide_env_values = true,
        global = true,
        value_parser = OsStringValueParser::new().try_map(|text| home_of(text, std::env::var_os(HOME_VARIABLE)))
    )]
    home: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Fail if the daemon is not running, instead of starting it
    #[arg(long, global = true)]
    no_start: bool,
    /// Log to stderr: error, warn, info, debug, trace
    #[arg(
        long,
        value_name = "LEVEL",
        env = "CAIRN_LOG",
        hide_env_values = true,
        global = true
    )]
    log: Option<String>,
}

#[derive(Subcommand, Debug)]
enum Command {
    Login(login::Args),
    Logout(logout::Args),
    Whoami(whoami::Args),
    Devices(devices::Args),
    Keys(keys::Args),
    Passphrase(passphrase::Args),
    RecoveryKey(recovery_key::Args),
    SecondFactor(second_factor::Args),

    Daemon(daemon::Args),
    Start(start::StartArgs),
    Stop(start::StopArgs),
    Restart(start::RestartArgs),
    Autostart(autostart::Args),

    Add(add::Args),
    Remove(remove::Args),
    Folders(folders::Args),
    Status(status::Args),
    Compare(compare::Args),
    Why(why::Args),
    Sync(sync::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Activity(activity::Args),
    Conflicts(conflicts::Args),
    Resolve(resolve::Args),
    Confirm(confirm::Args),
    Accept(accept::Args),
    Ignore(ignore::Args),
    Limits(limits::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Logs(logs::Args),
    Bugreport(bugreport::Args),
    Trash(trash::Args),

    Upload(upload::Args),
    Download(download::Args),
    DownloadFolder(download_folder::Args),
    #[command(visible_alias = "ls")]
    List(list::Args),
    Tree(tree::Args),
    Search(search::Args),
    Info(info::Args),
    Cat(cat::Args),
    Mkdir(mkdir::Args),
    #[command(visible_alias = "mv")]
    Move(r#move::Args),
    #[command(visible_alias = "cp")]
    Copy(copy::Args),
    #[command(visible_alias = "rm")]
    Delete(delete::Args),
    Versions(versions::Args),
    Diff(diff::Args),
    History(history::Args),
    Restore(restore::Args),
    Rewind(rewind::Args),
    Undo(undo::Args),
    Share(share::Args),
    Verify(verify::Args),
    Teams(teams::Args),
    Tokens(tokens::Args),
    Mcp(mcp::Args),
    Webhooks(webhooks::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Complete(complete::Args),
    #[command(hide = true)]
    Man(man::Args),
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let parsed = help::command()
        .try_get_matches_from(help::arguments(std::env::args_os()))
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // clap knows which stream and which exit code: help is no failure. A closed stream is none either.
            let printed = error.print();
            if !error.use_stderr()
                && let Err(lost) = output::check_printed(printed)
            {
                Out::new(false).note(format_args!("cairn: {lost}"));
                return ExitCode::FAILURE;
            }
            // Whether JSON was asked for could not be parsed either.
            if error.use_stderr() && std::env::args_os().any(|arg| arg == "--json") {
                let message = in_one_line(&error.to_string());
                Out::new(true).json(&json!({ "error": { "code": 2, "message": message } }));
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let out = Out::new(cli.global.json);
    let result = run(cli, out).and_then(|()| output::check_written());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.message.replace('\n', " ");
            out.note(format_args!(
                "cairn: {}",
                crate::output::text::clean(&message)
            ));
            if !failure.is_reported {
                out.json(&json!({ "error": { "code": failure.exit as u8, "message": message } }));
            }
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Returns clap's message without the lines after the first empty one: usage and hints.
fn in_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let wrong = lines.split(|line| line.is_empty()).next();
    let text = wrong.unwrap_or_default().join(" ");
    text.trim_start_matches("error: ").to_owned()
}

fn run(cli: Cli, out: Out) -> CommandResult {
    let Global {
        home,
        json: _,
        no_start,
        log,
    } = cli.global;
    let home = home.filter(|path| !path.as_os_str().is_empty());
    let home = Home::resolve(home).map_err(|e| Failure::usage(e.to_string()))?;
    if !matches!(cli.command, Command::Daemon(_)) {
        logging::for_command(log.as_deref())?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(worker_threads())
        .enable_all()
        .build()
        .map_err(|e| Failure::failed(format!("can't start the program's threads: {e}")))?;
    let app = App {
        home,
        out,
        no_start,
        zone: Zone::system(),
    };
    let result = runtime.block_on(dispatch(&app, cli.command, log));
    // A thread that still waits for a terminal or a disk must not hold up the exit.
    runtime.shutdown_background();
    result
}

/// Returns the number of threads that tasks run on; the runtime's own variable changes it.
fn worker_threads() -> usize {
    const THREADS: usize = 2;
    let asked = std::env::var("TOKIO_WORKER_THREADS").ok();
    let asked = asked.and_then(|text| text.parse().ok());
    asked.filter(|threads| *threads > 0).unwrap_or(THREADS)
}

async fn dispatch(app: &App, command: Command, log: Option<String>) -> CommandResult {
    match command {
        Command::Login(args) => login::run(app, args).await,
        Command::Logout(args) => logout::run(app, args).await,
        Command::Whoami(args) => whoami::run(app, args).await,
        Command::Devices(args) => devices::run(app, args).await,
        Command::Keys(args) => keys::run(app, args).await,
        Command::Passphrase(args) => passphrase::run(app, args).await,
        Command::RecoveryKey(args) => recovery_key::run(app, args).await,
        Command::SecondFactor(args) => second_factor::run(app, args).await,
        Command::Daemon(args) => daemon::run(app, args, log).await,
        Command::Start(args) => start::start(app, args).await,
        Command::Stop(args) => start::stop(app, args).await,
        Command::Restart(args) => start::restart(app, args).await,
        Command::Autostart(args) => autostart::run(app, args),
        Command::Add(args) => add::run(app, args).await,
        Command::Remove(args) => remove::run(app, args).await,
        Command::Folders(args) => folders::run(app, args).await,
        Command::Status(args) => status::run(app, args).await,
        Command::Compare(args) => compare::run(app, args).await,
        Command::Why(args) => why::run(app, args).await,
        Command::Sync(args) => sync::run(app, args).await,
        Command::Pause(args) => pause::run(app, args).await,
        Command::Resume(args) => resume::run(app, args).await,
        Command::Activity(args) => activity::run(app, args).await,
        Command::Conflicts(args) => conflicts::run(app, args).await,
        Command::Resolve(args) => resolve::run(app, args).await,
        Command::Confirm(args) => confirm::run(app, args).await,
        Command::Accept(args) => accept::run(app, args).await,
        Command::Ignore(args) => ignore::run(app, args).await,
        Command::Limits(args) => limits::run(app, args).await,
        Command::Config(args) => config::run(app, args).await,
        Command::Doctor(args) => doctor::run(app, args).await,
        Command::Logs(args) => logs::run(app, args).await,
        Command::Bugreport(args) => bugreport::run(app, args).await,
        Command::Trash(args) => trash::run(app, args).await,
        Command::Upload(args) => upload::run(app, args).await,
        Command::Download(args) => download::run(app, args).await,
        Command::DownloadFolder(args) => download_folder::run(app, args).await,
        Command::List(args) => list::run(app, args).await,
        Command::Tree(args) => tree::run(app, args).await,
        Command::Search(args) => search::run(app, args).await,
        Command::Info(args) => info::run(app, args).await,
        Command::Cat(args) => cat::run(app, args).await,
        Command::Mkdir(args) => mkdir::run(app, args).await,
        Command::Move(args) => r#move::run(app, args).await,
        Command::Copy(args) => copy::run(app, args).await,
        Command::Delete(args) => delete::run(app, args).await,
        Command::Versions(args) => versions::run(app, args).await,
        Command::Diff(args) => diff::run(app, args).await,
        Command::History(args) => history::run(app, args).await,
        Command::Restore(args) => restore::run(app, args).await,
        Command::Rewind(args) => rewind::run(app, args).await,
        Command::Undo(args) => undo::run(app, args).await,
        Command::Share(args) => share::run(app, args).await,
        Command::Webhooks(args) => webhooks::run(app, args).await,
        Command::Verify(args) => verify::run(app, args).await,
        Command::Teams(args) => teams::run(app, args).await,
        Command::Tokens(args) => tokens::run(app, args).await,
        Command::Mcp(args) => mcp::run(app, args).await,
        Command::Completions(args) => completions::run(app, args),
        Command::Complete(args) => complete::run(app, args).await,
        Command::Man(args) => man::run(app, &args),
    }
}
