//! `cairn undo`: takes back what a command on this device did on the service.

mod remote;

use crate::account::Account;
use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, count, local_time, rfc3339};
use crate::remote::journal::{Entry, Journal};
use crate::remote::{Remote, Within};
use remote::UndoingRemote;
use serde_json::json;

/// Take back what a command on this device did on the service
///
/// Moves, deletions, copies, new folders, restored content and whole rewinds, newest change first, each
/// where nothing newer stands in the way. Takes back the last command unless --session names another; an
/// undo can itself be undone.
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
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    // Those of an account that was logged in here before are not this one's to see, or to take back.
    let account = Account::load(&app.home)?;
    let sessions = Journal::sessions(&app.home, account.account)?;
    if args.list {
        list(app, &sessions);
        return Ok(());
    }
    let session = choose(&sessions, args.session.as_deref())?;
    let Some(first) = session.first() else {
        return Err(nothing_to_undo());
    };
    app.out.line(format_args!(
        "`cairn {}`, {}, made {}.",
        clean(&first.command),
        local_time(first.at_ms, &app.zone),
        count(session.len() as u64, "change")
    ));
    if !args.yes && !prompt::confirm("Undo it? [y/N] ")? {
        return Err(Failure::new(
            Exit::Decision,
            "nothing was done: add --yes to take it back",
        ));
    }
    let within = Within {
        team: first.team.clone(),
    };
    let remote = Remote::open(app, &within).await?;
    let own = Journal::own_versions(&app.home, first.session)?;
    let undoing = UndoingRemote::new(&remote, own);
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for record in session.iter().rev().filter_map(|e| e.change.as_ref()) {
        match undoing.take_back(record).await? {
            Ok(text) => taken.push(text),
            Err(text) => left.push(text),
        }
    }
    if left.is_empty() || !taken.is_empty() {
        remote.journal.end(first.session)?;
    }
    report(app, first, &remote, &taken, &left)
}

fn report(
    app: &App,
    first: &Entry,
    remote: &Remote,
    taken: &[String],
    left: &[String],
) -> CommandResult {
    for text in taken {
        app.out.line(format_args!("  {}", clean(text)));
    }
    for text in left {
        app.out
            .line(format_args!("  left as it is: {}", clean(text)));
    }
    app.out.json(&json!({
        "undone": first.session,
        "command": first.command,
        "session": remote.journal.session(),
        "taken_back": taken,
        "left": left,
    }));
    if left.is_empty() {
        return Ok(());
    }
    let left = count(left.len() as u64, "change");
    let message = format!("{left} could not be taken back: see above");
    Err(Failure::new(Exit::Decision, message).mark_reported())
}

fn nothing_to_undo() -> Failure {
    Failure::failed("nothing can be taken back: no command on this device has changed anything")
}

fn choose<'a>(sessions: &'a [Vec<Entry>], wanted: Option<&str>) -> CommandResult<&'a [Entry]> {
    let Some(wanted) = wanted else {
        return sessions
            .last()
            .map(Vec::as_slice)
            .ok_or_else(nothing_to_undo);
    };
    let mut matching = sessions.iter().filter(|session| {
        let id = session.first().map(|entry| entry.session.to_string());
        id.is_some_and(|id| id.starts_with(&wanted.to_ascii_lowercase()))
    });
    match (matching.next(), matching.next()) {
        (Some(session), None) => Ok(session),
        (Some(_), Some(_)) => Err(Failure::usage(format!(
            "several sessions begin with {wanted}: give more of the id"
        ))),
        (None, _) => Err(Failure::usage(format!(
            "there is no session {wanted} to take back: see `cairn undo --list`"
        ))),
    }
}

fn list(app: &App, sessions: &[Vec<Entry>]) {
    let mut table = Table::new(&[
        ("WHEN", Align::Left),
        ("COMMAND", Align::Left),
        ("CHANGES", Align::Right),
        ("SESSION", Align::Left),
    ]);
    let mut views = Vec::new();
    for session in sessions.iter().rev() {
        let Some(first) = session.first() else {
            continue;
        };
        table.row([
            local_time(first.at_ms, &app.zone),
            format!("cairn {}", first.command),
            session.len().to_string(),
            first.session.to_string(),
        ]);
        views.push(json!({
            "session": first.session,
            "at": rfc3339(first.at_ms),
            "command": first.command,
            "team": first.team,
            "changes": session.len(),
        }));
    }
    table.print(&app.out, "No command on this device has changed anything.");
    app.out.json(&json!({ "sessions": views }));
}
