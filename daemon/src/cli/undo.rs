//! `cairn undo`: takes back what a command on this device did on the service.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Context as _, Exit, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, count, local_time, rfc3339};
use crate::remote::journal::{Change, Entry, Journal};
use crate::remote::{Remote, Within};
use cairn_model::{Kind, Name, NodeId, RevisionId};
use cairn_wire::nodes::{Node, NodeState};
use serde_json::json;
use std::collections::HashSet;

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

/// The result for one change.
type Taken = Result<String, String>;

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let sessions = Journal::sessions(&app.home)?;
    if args.list {
        list(app, &sessions);
        return Ok(());
    }
    let session = choose(&sessions, args.session.as_deref())?;
    let Some(first) = session.first() else {
        return Err(nothing());
    };
    app.out.line(format_args!(
        "`cairn {}`, {}, made {}.",
        clean(&first.command),
        local_time(first.at_ms, app.offset),
        count(session.len() as u64, "change")
    ));
    if !args.yes && !prompt::confirmed("Take it back? [y/N] ")? {
        return Err(Failure::new(
            Exit::Decision,
            "nothing was done: add --yes to take it back",
        ));
    }
    let within = Within {
        team: first.team.clone(),
    };
    let remote = Remote::open(app, &within).await?;
    // Before anything is taken back: what is done here is newer itself.
    let worked_on = worked_on(&remote, session).await?;
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for entry in session.iter().rev() {
        let Some(change) = &entry.change else {
            continue;
        };
        match take_back(&remote, change, &worked_on).await? {
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
    Err(Failure {
        is_reported: true,
        ..Failure::new(
            Exit::Decision,
            format!(
                "{} could not be taken back: see above",
                count(left.len() as u64, "change")
            ),
        )
    })
}

fn nothing() -> Failure {
    Failure::failed("nothing can be taken back: no command on this device has changed anything")
}

fn choose<'a>(sessions: &'a [Vec<Entry>], wanted: Option<&str>) -> CommandResult<&'a [Entry]> {
    let Some(wanted) = wanted else {
        return sessions.last().map(Vec::as_slice).ok_or_else(nothing);
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
            local_time(first.at_ms, app.offset),
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

/// Takes one change back, or tells why not.
async fn take_back(
    remote: &Remote,
    change: &Change,
    worked_on: &HashSet<NodeId>,
) -> CommandResult<Taken> {
    let id = match change {
        Change::Made { node }
        | Change::Copied { node }
        | Change::Moved { node, .. }
        | Change::Trashed { node }
        | Change::Restored { node }
        | Change::Content { node, .. } => *node,
    };
    let Some(node) = remote.node_if_kept(id).await? else {
        return Ok(Err(format!("{id} was deleted for good")));
    };
    let is_trashed = node.state == NodeState::Trashed;
    let taken = match change {
        Change::Trashed { .. } if !is_trashed => Ok(format!("{} is back already", node.name)),
        Change::Trashed { .. } => soft(remote.restore_node(&node).await, |node| {
            format!("{} is back from the trash", node.name)
        })?,
        Change::Made { .. } | Change::Copied { .. } | Change::Restored { .. } if is_trashed => {
            Ok(format!("{} is in the trash already", node.name))
        }
        Change::Moved { .. } | Change::Content { .. } if is_trashed => {
            Err(format!("{} is in the trash", node.name))
        }
        Change::Made { .. } if !remote.children(Some(id)).await?.is_empty() => {
            Err(format!("{} is not empty", node.name))
        }
        Change::Copied { .. } | Change::Restored { .. } if worked_on.contains(&id) => {
            Err(format!("{} was worked on since", node.name))
        }
        Change::Made { .. } | Change::Copied { .. } | Change::Restored { .. } => {
            soft(remote.trash_confirmed(&node).await, |()| {
                format!("{} is in the trash", node.name)
            })?
        }
        Change::Moved {
            parent,
            name,
            to_parent,
            to_name,
            ..
        } => {
            // An earlier version did not note where it went.
            let is_there =
                to_name.is_empty() || (node.parent_id, &node.name) == (*to_parent, to_name);
            move_back(remote, &node, is_there, *parent, name).await?
        }
        Change::Content { before, after, .. } => {
            content_back(remote, &node, *before, *after).await?
        }
    };
    Ok(taken)
}

/// Turns a failure that concerns one change alone into its result.
fn soft<T>(result: CommandResult<T>, text: impl FnOnce(T) -> String) -> CommandResult<Taken> {
    match result {
        Ok(value) => Ok(Ok(text(value))),
        Err(failure) if matches!(failure.exit, Exit::Failed | Exit::Decision) => {
            Ok(Err(failure.message))
        }
        Err(failure) => Err(failure),
    }
}

/// Finds the copied and restored nodes of a session that somebody changed after its end, or below which
/// somebody did, however deep. The times are the server's.
async fn worked_on(remote: &Remote, session: &[Entry]) -> CommandResult<HashSet<NodeId>> {
    let end_ms = session.iter().map(|entry| entry.done_at_ms).max();
    let end_ms = end_ms.unwrap_or_default();
    let mut found = HashSet::new();
    for entry in session {
        let (Some(Change::Copied { node }) | Some(Change::Restored { node })) = &entry.change
        else {
            continue;
        };
        if let Some(node) = remote.node_if_kept(*node).await?
            && node.state == NodeState::Active
            && changed_after(remote, &node, end_ms).await?
        {
            found.insert(node.id);
        }
    }
    Ok(found)
}

/// Returns whether a node, or anything below it, changed after a time of the server.
async fn changed_after(remote: &Remote, node: &Node, at_ms: i64) -> CommandResult<bool> {
    let mut waiting = vec![node.clone()];
    while let Some(node) = waiting.pop() {
        if node.updated_at.0 > at_ms {
            return Ok(true);
        }
        if node.kind == Kind::Folder {
            waiting.extend(remote.children(Some(node.id)).await?);
        }
    }
    Ok(false)
}

async fn move_back(
    remote: &Remote,
    node: &Node,
    is_there: bool,
    parent: Option<NodeId>,
    name: &str,
) -> CommandResult<Taken> {
    let name = Name::new(name.to_owned()).map_err(|e| Failure::failed(e.to_string()))?;
    if (node.parent_id, node.name.as_str()) == (parent, name.as_str()) {
        return Ok(Ok(format!("{name} is back already")));
    }
    if !is_there {
        return Ok(Err(format!("{} was moved since", node.name)));
    }
    soft(remote.move_node(node, parent, &name).await, |moved| {
        format!("{} is called {} and where it was", node.name, moved.name)
    })
}

async fn content_back(
    remote: &Remote,
    node: &Node,
    before: RevisionId,
    after: RevisionId,
) -> CommandResult<Taken> {
    if node.revision_id != Some(after) {
        return Ok(Err(format!("{} was changed since", node.name)));
    }
    let listed = remote.api.revisions(node.id).await;
    let revisions = listed.context(format_args!("list the versions of {}", node.name))?;
    let Some(revision) = revisions.iter().find(|revision| revision.id == before) else {
        return Ok(Err(format!(
            "the version of {} from before is not kept any more",
            node.name
        )));
    };
    soft(remote.restore_revision(node, revision).await, |node| {
        format!("{} has its content from before", node.name)
    })
}
