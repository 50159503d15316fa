//! `cairn undo`: takes back what a command on this device, or an assistant, did on the service.

mod assistants;
mod list;
mod outcome;
mod remote;
pub(super) mod silent;
mod simulated;

use crate::account::Account;
use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::text::{clean, count, local_time};
use crate::remote::journal::{Entry, Journal};
use crate::remote::{Remote, Within};
use outcome::{Outcome, end, take_all_back};
use remote::UndoingRemote;
use serde_json::json;
use simulated::Simulated;

/// Take back what a command on this device, or an assistant, did on the service
///
/// Moves, deletions, copies, new folders, restored content and whole rewinds, newest change first, each
/// where nothing newer stands in the way. Takes back the last command unless --session names another one, or
/// what an assistant did. The undo of a command can itself be undone.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The session, or the beginning of its id (see --list)
    #[arg(long, value_name = "ID", conflicts_with = "last")]
    session: Option<String>,
    /// The last command that changed something, as without --session
    #[arg(long)]
    last: bool,
    /// Show what can be taken back
    #[arg(long, conflicts_with_all = ["session", "last"])]
    list: bool,
    /// Don't ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    // Those of an account that was logged in here before are not this one's to see, or to take back.
    let account = Account::load(&app.home)?;
    let sessions = Journal::sessions(&app.home, account.account)?;
    if args.list {
        list::print(app, &sessions).await;
        return Ok(());
    }
    let (session, first) = match choose(&sessions, args.session.as_deref())? {
        Chosen::Command(session, first) => (session, first),
        Chosen::Other(wanted) if args.dry_run.is_wanted => {
            return assistants::show(app, wanted).await;
        }
        Chosen::Other(wanted) => return assistants::undo(app, wanted, args.yes).await,
    };
    app.out.line(format_args!(
        "`cairn {}`, {}, made {}.",
        clean(&first.command),
        local_time(first.at_ms, &app.zone),
        count(session.len() as u64, "change")
    ));
    if !args.dry_run.is_wanted {
        confirm("Undo it?", args.yes)?;
    }
    let within = Within {
        team: first.team.clone(),
    };
    let remote = Remote::open(app, &within).await?;
    let own = Journal::own_versions(&app.home, first.session)?;
    let undoing = UndoingRemote::new(&remote, own);
    if args.dry_run.is_wanted {
        let outcome = take_all_back(&Simulated::new(&undoing), session).await?;
        return show(app, first, &outcome);
    }
    let outcome = take_all_back(&undoing, session).await?;
    end(&remote, first, &outcome)?;
    report(app, first, &remote, &outcome.taken, &outcome.left)
}

/// Shows how everything would be after the undo.
fn show(app: &App, first: &Entry, outcome: &Outcome) -> CommandResult {
    for text in &outcome.taken {
        app.out.line(format_args!("  {}", clean(text)));
    }
    for text in &outcome.left {
        app.out
            .line(format_args!("  left as it is: {}", clean(text)));
    }
    let document = json!({
        "undone": first.session,
        "command": first.command,
        "session": null,
        "taken_back": outcome.taken,
        "left": outcome.left,
    });
    let line = "So it would be after `cairn undo`; nothing was done.";
    dry_run::show(app, line, document)
}

/// Asks, unless the command line agrees.
fn confirm(question: &str, yes: bool) -> CommandResult {
    if yes || prompt::confirm(&format!("{question} [y/N] "))? {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Decision,
        "nothing was done: add --yes to take it back",
    ))
}

fn report(
    app: &App,
    first: &Entry,
    remote: &Remote,
    taken: &[String],
    left: &[String],
) -> CommandResult {
    let document = json!({
        "undone": first.session,
        "command": first.command,
        "session": remote.journal.session(),
        "taken_back": taken,
        "left": left,
    });
    print_changes(app, taken, left, &document)
}

/// Prints what was taken back and what stays; fails if anything does.
fn print_changes(
    app: &App,
    taken: &[String],
    left: &[String],
    document: &serde_json::Value,
) -> CommandResult {
    for text in taken {
        app.out.line(format_args!("  {}", clean(text)));
    }
    for text in left {
        app.out
            .line(format_args!("  left as it is: {}", clean(text)));
    }
    app.out.json(document);
    if left.is_empty() {
        return Ok(());
    }
    let left = count(left.len() as u64, "change");
    let message = format!("{left} could not be taken back: see above");
    Err(Failure::new(Exit::Decision, message).mark_reported())
}

fn nothing_to_undo() -> Failure {
    Failure::failed(
        "nothing can be taken back: no command on this device has changed anything; `cairn undo --list` shows what assistants did",
    )
}

/// The session that the command line names.
enum Chosen<'a> {
    /// The changes of a command, and the first of them.
    Command(&'a [Entry], &'a Entry),
    /// An id, or its beginning, that is not one of a command.
    Other(&'a str),
}

fn choose<'a>(sessions: &'a [Vec<Entry>], wanted: Option<&'a str>) -> CommandResult<Chosen<'a>> {
    let command = |session: &'a Vec<Entry>| Some(Chosen::Command(session, session.first()?));
    let Some(wanted) = wanted else {
        return sessions
            .last()
            .and_then(command)
            .ok_or_else(nothing_to_undo);
    };
    let mut matching = sessions.iter().filter(|session| {
        let id = session.first().map(|entry| entry.session.to_string());
        id.is_some_and(|id| id.starts_with(&wanted.to_ascii_lowercase()))
    });
    match (matching.next(), matching.next()) {
        (Some(session), None) => command(session).ok_or_else(nothing_to_undo),
        (Some(_), Some(_)) => Err(Failure::usage(several(wanted))),
        (None, _) => Ok(Chosen::Other(wanted)),
    }
}

fn several(wanted: &str) -> String {
    format!("several sessions begin with {wanted}: give more of the id")
}
