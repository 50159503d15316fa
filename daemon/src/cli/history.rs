//! `cairn history`: what happened to a file or folder, newest first.

mod people;

use crate::app::App;
use crate::cli::number::{at_least_one, page_length};
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::table::{Align, Table};
use crate::output::text::{clean, local_time, now_ms, rfc3339, size};
use crate::past::{all_revisions_of, gap, load};
use crate::remote::{Remote, Within};
use cairn_model::{Kind, NodeId, PastKind};
use cairn_space::past::{Event, Past, PastNode, Scope, events};
use cairn_wire::nodes::Revision;
use people::People;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Show what happened to a file or folder, newest first
///
/// Of a file: its versions, moves and deletion. Of a folder: when each item in it was made, moved, last
/// changed, deleted and restored, as the service tells it.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, one in a synced folder, or an id
    #[arg(default_value = "/")]
    path: String,
    /// Events on one page
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 50, value_parser = page_length)]
    limit: u64,
    /// The page, from 1, the newest
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1, value_parser = at_least_one)]
    page: u64,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.path).await?;
    let past = load(&app.home, &remote, None).await?;
    let scope = find(&remote, &past, &args.path)?;
    let revisions = revisions(&remote, &past, scope).await?;
    let mut all = events(&past, scope, &revisions);
    let mut people = People::ask(app, &remote).await?;
    people.learn(&revisions);
    let pages = (all.len() as u64).div_ceil(args.limit).max(1);
    if args.page > pages {
        return Err(Failure::usage(format!(
            "there is no page {}: the last one is {pages}",
            args.page
        )));
    }
    let skip = usize::try_from((args.page - 1).saturating_mul(args.limit)).unwrap_or(usize::MAX);
    let take = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let total = all.len();
    let mut shown: Vec<Event> = all.drain(..).skip(skip).take(take).collect();
    add_makers(&remote, &past, &mut people, &mut shown).await?;
    print(app, &shown, &people);
    if args.page < pages {
        app.out.line(format_args!(
            "Page {} of {pages}: --page {} has older events.",
            args.page,
            args.page + 1
        ));
    }
    let warning = gap(&past, None, &app.zone);
    if let Some(warning) = &warning {
        app.out.line(warning);
    }
    let earlier = earlier_nodes(&remote, &past, scope, &args.path)?;
    for one in &earlier {
        app.out.line(format_args!(
            "{}: `cairn history {}`",
            clean(&earlier_text(app, &past, one)),
            one.node.id
        ));
    }
    let earlier: Vec<Value> = earlier.iter().map(|one| earlier_view(&past, one)).collect();
    let shown: Vec<Value> = shown.iter().map(|event| view(event, &people)).collect();
    app.out.json(&json!({
        "path": args.path,
        "events": shown,
        "earlier": earlier,
        "warning": warning,
        "page": args.page,
        "pages": pages,
        "total": total,
    }));
    Ok(())
}

/// Finds what a person means: what is there, else what was deleted last under that path.
///
/// # Errors
/// There is neither; what was there once is named with the path that it has now.
fn find(remote: &Remote, past: &Past, text: &str) -> CommandResult<Scope> {
    let nothing = format!("there is no {text} on the service or in its trash");
    if let Ok(id) = text.parse::<NodeId>() {
        let found = past.get(id).map(|_| Scope::Below(id));
        return found.ok_or_else(|| Failure::failed(nothing));
    }
    let path = remote.path(text)?;
    past.at_path(&path, now_ms())
        .or_else(|| {
            let deleted = past.deleted_at_path(&path, None)?;
            Some(Scope::Below(deleted.node.id))
        })
        .ok_or_else(|| Failure::failed(format!("{nothing}{}", now_elsewhere(past, &path))))
}

/// Returns a hint to what was at a path and is elsewhere now; nothing if that is not known.
fn now_elsewhere(past: &Past, path: &str) -> String {
    let Some(one) = past.others_at(path, None).into_iter().next() else {
        return String::new();
    };
    let (id, is_at) = (one.node.id, past.path(one.node.id));
    let state = match one.is_active() {
        true => "is at",
        false => "is in the trash, from",
    };
    format!("; what was there {state} {is_at} now: `cairn history {id}`")
}

/// Lists other nodes that were at the path before; each has its own history.
fn earlier_nodes<'a>(
    remote: &Remote,
    past: &'a Past,
    scope: Scope,
    text: &str,
) -> CommandResult<Vec<&'a PastNode>> {
    match scope.top() {
        Some(top) if text.parse::<NodeId>().is_err() => {
            Ok(past.others_at(&remote.path(text)?, Some(top)))
        }
        Some(_) | None => Ok(Vec::new()),
    }
}

fn earlier_text(app: &App, past: &Past, one: &PastNode) -> String {
    match one.deleted {
        Some(deleted) => format!(
            "Another one was here before, deleted {}",
            local_time(deleted.at_ms, &app.zone)
        ),
        None => format!(
            "Another one was here before, now at {}",
            past.path(one.node.id)
        ),
    }
}

fn earlier_view(past: &Past, one: &PastNode) -> Value {
    json!({
        "node_id": one.node.id,
        "path": past.path(one.node.id),
        "deleted_at": one.deleted.map(|deleted| rfc3339(deleted.at_ms)),
    })
}

/// The versions of the one file that a scope is.
async fn revisions(remote: &Remote, past: &Past, scope: Scope) -> CommandResult<Vec<Revision>> {
    let Some(id) = scope.top() else {
        return Ok(Vec::new());
    };
    if past.get(id).is_none_or(|one| one.node.kind == Kind::Folder) {
        return Ok(Vec::new());
    }
    let listed = remote.api.revisions(id).await;
    listed.context("list the versions of the file")
}

/// Adds to events by which device a file was made, and how large, where only its first version says so; and learns from
/// the versions whose the devices are that are not known.
async fn add_makers(
    remote: &Remote,
    past: &Past,
    people: &mut People,
    events: &mut [Event],
) -> CommandResult {
    let is_file = |id| past.get(id).is_some_and(|one| one.node.kind == Kind::File);
    let lacks = |event: &&Event| {
        event.lacks_maker() || (event.device.is_some() && people.by(event).is_none())
    };
    let lacking = events.iter().filter(lacks);
    let files: BTreeSet<NodeId> = lacking
        .map(|event| event.node)
        .filter(|id| is_file(*id))
        .collect();
    let files: Vec<NodeId> = files.into_iter().collect();
    let revisions = all_revisions_of(remote, &files).await?;
    people.learn(revisions.values().flatten());
    for event in events.iter_mut().filter(|event| event.lacks_maker()) {
        if let Some(revisions) = revisions.get(&event.node) {
            event.add_maker(revisions);
        }
    }
    Ok(())
}

fn print(app: &App, events: &[Event], people: &People) {
    let mut table = Table::new(&[
        ("WHEN", Align::Left),
        ("WHAT", Align::Left),
        ("PATH", Align::Name),
        ("SIZE", Align::Right),
        ("DEVICE", Align::Name),
        ("BY", Align::Left),
    ]);
    for event in events {
        table.row([
            local_time(event.at_ms, &app.zone),
            word(event),
            path(event),
            event.bytes.map(size).unwrap_or_default(),
            people.device_in_words(event).to_owned(),
            people.by(event).unwrap_or_default().to_owned(),
        ]);
    }
    table.print(&app.out, "Nothing is known of its past.");
}

fn word(event: &Event) -> String {
    match (event.kind, event.version) {
        (PastKind::Created | PastKind::Version, Some(number)) => format!("version {number}"),
        (PastKind::Created, None) => "created".to_owned(),
        (PastKind::Version, None) => "version".to_owned(),
        (PastKind::Moved, _) => "moved".to_owned(),
        (PastKind::Changed, _) => "changed".to_owned(),
        (PastKind::Deleted, _) => "deleted".to_owned(),
        (PastKind::Restored, _) => "restored".to_owned(),
    }
}

fn path(event: &Event) -> String {
    match &event.from {
        Some(from) => format!("{from} → {}", event.path),
        None => event.path.clone(),
    }
}

fn view(event: &Event, people: &People) -> Value {
    json!({
        "at": rfc3339(event.at_ms),
        "kind": event.kind,
        "node_id": event.node,
        "path": event.path,
        "from": event.from,
        "device": people.device(event),
        "device_id": event.device,
        "by": people.by(event),
        "version": event.version,
        "revision_id": event.revision,
        "bytes": event.bytes,
    })
}
