//! Bringing a folder back to a time. The plan and the changes are those of `cairn rewind`, which the program gives
//! to the server: what was where in the past is known on this device.

use crate::arguments::is_uuid;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::is_hidden_or_start_up;
use crate::question::{Asking, quote};
use crate::quote::quote_end;
use crate::rewinder::{RewindMode, RewindRequest, Rewinder, Rewound};
use crate::services::Services;
use crate::spaces::Location;
use crate::sync_tools::SyncedFolders;
use crate::tool::ToolFuture;
use cairn_model::NodeId;
use cairn_wire::teams::Team;
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use std::sync::Arc;

/// The field of a result that has the plan.
const PLAN: &str = "plan";

pub(crate) fn rewind(call: Call) -> ToolFuture {
    async move {
        if is_carried_out(&call) && !call.is_confirmed {
            check_unasked(&call).await?;
        }
        let mode = if is_carried_out(&call) {
            RewindMode::CarryOut {
                confirmed: call.subject.state(PLAN),
            }
        } else {
            RewindMode::Plan
        };
        run(&call, mode).await
    }
    .boxed()
}

/// Returns the question before a plan is carried out, with its numbers.
pub(crate) fn question_of(call: &Call) -> Asking<'_> {
    async move {
        if !is_carried_out(call) {
            return Ok(None);
        }
        let planned = run(call, RewindMode::Plan).await?;
        call.subject.note(PLAN, planned[PLAN].clone());
        Ok(question(&planned, call.arguments.required_text("to")?))
    }
    .boxed()
}

/// Checks a plan about which nobody was asked.
///
/// # Errors
/// [`ToolError::Refused`] if it brings hidden files or start-up files back, which programs may run.
async fn check_unasked(call: &Call) -> ToolResult {
    let planned = run(call, RewindMode::Plan).await?;
    let hidden = hidden_paths(&planned[PLAN]);
    if let Some(first) = hidden.first() {
        return Err(ToolError::refused(format!(
            "this brings back hidden files or start-up files, such as {}, which programs may run on every device that syncs them: only a person can agree to that, and nobody can be asked here; they can do it with `cairn rewind`",
            quote_end(first)
        )));
    }
    Ok(())
}

/// Returns the paths that a plan makes or replaces, and that are hidden or those of start-up files.
fn hidden_paths(plan: &Value) -> Vec<&str> {
    let list = |name: &str| plan[name].as_array().into_iter().flatten();
    let paths = list("back")
        .chain(list("contents").map(|content| &content["path"]))
        .chain(list("moves").map(|moved| &moved["to"]));
    let paths = paths.filter_map(Value::as_str);
    paths.filter(|path| is_hidden_or_start_up(path)).collect()
}

fn is_carried_out(call: &Call) -> bool {
    call.arguments.get("carry_out").and_then(Value::as_bool) == Some(true)
}

async fn run(call: &Call, mode: RewindMode) -> ToolResult<Value> {
    let services = &call.services;
    let rewinder = rewinder(services)?;
    let given = call.arguments.required_text("path")?;
    let to = call.arguments.required_text("to")?.to_owned();
    let place = place(services, given).await?;
    let team = place.team.as_ref();
    let request = RewindRequest {
        account: services.reads.account().await?.id,
        team: team.map(|team| team.id),
        path: place.path,
        to,
        mode,
    };
    let mut done = rewinder.rewind(request).await.map_err(ToolError::Quoting)?;
    if let Some(team) = team {
        done["team"] = json!(team.name);
    }
    if let Some(session) = done["session"].as_str().map(str::to_owned) {
        done["undo"] = json!("undo_session with this `session` takes it back");
        let path = done["path"].as_str().unwrap_or(given).to_owned();
        services.rewinds.lock().push(Rewound { session, path });
    }
    Ok(done)
}

/// Returns a rewind of this process by its session.
pub(crate) fn find_done(services: &Services, session: &str) -> Option<Rewound> {
    let done = services.rewinds.lock();
    done.iter().find(|one| one.session == session).cloned()
}

/// Returns the question before a rewind is taken back.
pub(crate) fn undo_question(done: &Rewound) -> String {
    format!(
        "Undo the rewind of {}? What it has put into the trash comes back, what came back goes there, and files get the contents that they had before.",
        quote_end(&done.path)
    )
}

/// Takes a rewind back.
pub(crate) async fn undo(services: &Services, done: &Rewound) -> ToolResult<Value> {
    let session = done.session.clone();
    let undone = rewinder(services)?.undo(session);
    let undone = undone.await.map_err(ToolError::Quoting)?;
    services.rewinds.lock().retain(|one| one != done);
    Ok(undone)
}

fn rewinder(services: &Services) -> ToolResult<&Arc<dyn Rewinder>> {
    services.rewinder.as_ref().ok_or_else(|| {
        ToolError::refused("this program does not bring folders back: `cairn rewind` does")
    })
}

/// The place that a path or id names.
struct RewindPlace {
    team: Option<Team>,
    path: String,
}

impl RewindPlace {
    fn own(path: &str) -> Self {
        Self {
            team: None,
            path: path.to_owned(),
        }
    }
}

/// Returns the place that is meant: a path in the space of a team, the id of a team or of something in one, or else
/// something of the account's own.
async fn place(services: &Services, given: &str) -> ToolResult<RewindPlace> {
    if is_uuid(given) {
        return place_of_id(services, given).await;
    }
    if given.starts_with(['/', '~', '.']) {
        return Ok(RewindPlace::own(given));
    }
    let teams = services.teams().await?;
    let Some(place) = place_in_team(&teams, given)? else {
        return Ok(RewindPlace::own(given));
    };
    let synced = SyncedFolders::read(services).await?;
    let mut local = synced.meanings_of(given).into_iter();
    if local.any(|meaning| meaning.local.symlink_metadata().is_ok()) {
        return Err(ToolError::refused(format!(
            "{} can mean a file of a team, and one in a synced folder of this machine: give its id, or its whole path on this machine",
            quote(given)
        )));
    }
    Ok(place)
}

/// Returns the place of a path that begins with the name of a team; `None` for another one.
///
/// # Errors
/// [`ToolError::Refused`] for the name of several teams.
fn place_in_team(teams: &[Team], given: &str) -> ToolResult<Option<RewindPlace>> {
    let mut places = teams.iter().filter_map(|team| {
        let below = given.strip_prefix(team.name.as_str())?;
        let is_in_it = !team.name.is_empty() && (below.is_empty() || below.starts_with('/'));
        is_in_it.then(|| RewindPlace {
            path: format!("/{}", below.trim_matches('/')),
            team: Some(team.clone()),
        })
    });
    match (places.next(), places.next()) {
        (None, _) => Ok(None),
        (Some(only), None) => Ok(Some(only)),
        (Some(_), Some(_)) => Err(ToolError::refused(format!(
            "{} can be in several teams: give the id of the one that is meant",
            quote(given)
        ))),
    }
}

async fn place_of_id(services: &Services, id: &str) -> ToolResult<RewindPlace> {
    let node: Option<NodeId> = id.parse().ok();
    if let Some(node) = node
        && services.reads.node(node).await.is_ok()
    {
        return Ok(RewindPlace::own(id));
    }
    let (space, path) = match services.locate(id).await? {
        None => return Ok(RewindPlace::own(id)),
        Some(Location::Root(space)) => (space, "/"),
        Some(Location::Node(space)) => (space, id),
    };
    let teams = services.teams().await?;
    let team = teams.into_iter().find(|team| team.space_id == space);
    Ok(RewindPlace {
        team,
        path: path.to_owned(),
    })
}

/// Returns the question of a plan; `None` if it changes nothing.
fn question(planned: &Value, to: &str) -> Option<String> {
    let plan = &planned["plan"];
    let number = |name: &str| plan[name].as_u64().unwrap_or_default();
    let moved = plan["moves"].as_array().map_or(0, Vec::len) as u64;
    let parts: Vec<String> = [
        (number("files_back"), "come back from the trash"),
        (number("files_trashed"), "go to the trash"),
        (number("files_changed"), "get an earlier version"),
        (moved, "move back"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let text = |name: &str| quote(planned[name].as_str().unwrap_or_default());
    let hidden = match hidden_paths(plan).as_slice() {
        [] => String::new(),
        [first, ..] => format!(
            " Among them are hidden files or start-up files, which programs may run, such as {}.",
            quote_end(first)
        ),
    };
    let in_team = planned["team"].as_str();
    let in_team = in_team.map_or_else(String::new, |team| format!(" in the team {}", quote(team)));
    (!parts.is_empty()).then(|| {
        format!(
            "Make {}{} what it was {}? Of its files and folders {}.{}",
            text("path"),
            in_team,
            if is_span(to) {
                quote(to)
            } else {
                format!("at {}", text("at"))
            },
            parts.join(", "),
            hidden
        )
    })
}

/// Returns true for a time that is another one each time that it is read: the question would never be the same.
fn is_span(to: &str) -> bool {
    let to = to.trim();
    to == "now" || to.ends_with("ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_the_numbers_of_the_plan() {
        let plan = json!({
            "files_back": 412, "files_trashed": 0, "files_changed": 8,
            "moves": [{ "from": "/a", "to": "/b" }],
        });
        let at = "2026-11-20T14:00:00Z";
        let planned = json!({ "path": "/docs", "at": at, "plan": plan.clone() });
        assert_eq!(
            question(&planned, "2026-11-20 15:00").as_deref(),
            Some(
                "Make `/docs` what it was at `2026-11-20T14:00:00Z`? Of its files and folders 412 come back from the trash, 8 get an earlier version, 1 move back."
            )
        );
        let of_team =
            json!({ "path": "/docs", "at": at, "team": "Crew", "plan": { "files_back": 1 } });
        let asked = question(&of_team, at).unwrap();
        assert!(
            asked.starts_with("Make `/docs` in the team `Crew` what"),
            "{asked}"
        );
        for hidden in [
            json!({ "back": ["/docs/.bashrc"] }),
            json!({ "contents": [{ "path": "/docs/.git/config" }] }),
            json!({ "moves": [{ "from": "/docs/a", "to": "/docs/autostart/a" }] }),
        ] {
            assert_eq!(hidden_paths(&hidden).len(), 1, "{hidden}");
            let mut plan = hidden;
            plan["files_back"] = json!(1);
            let asked = question(&json!({ "path": "/docs", "at": at, "plan": plan }), at);
            let asked = asked.unwrap();
            assert!(asked.contains("programs may run"), "{asked}");
        }
        let away = json!({ "trash": ["/docs/.x"], "moves": [{ "from": "/.a", "to": "/a" }] });
        assert!(hidden_paths(&away).is_empty());
        let nothing = json!({ "plan": { "files_back": 0, "moves": [] } });
        assert_eq!(question(&nothing, at), None);
        // Asked a moment later it is the same question.
        let later = json!({ "path": "/docs", "at": "2026-11-20T14:00:01Z", "plan": plan });
        let asked = question(&later, "5m ago").unwrap();
        assert!(asked.contains("what it was `5m ago`"), "{asked}");
        assert_eq!(question(&planned, "5m ago"), Some(asked));
    }

    fn team(n: u8, name: &str) -> Team {
        let id = cairn_model::TeamId::from_random_bytes([n; 16]);
        let team = json!({
            "id": id, "name": name, "owner_id": id, "owner_name": "Ada", "space_id": id, "role": "owner",
            "member_count": 1, "created_at": "2026-11-22T03:05:53.123Z", "key_epoch": 1,
        });
        serde_json::from_value(team).unwrap()
    }

    #[test]
    fn a_path_in_a_team_is_one_of_its_space() {
        let teams = [team(1, "Dev Team"), team(2, "Dev")];
        for (given, place) in [
            (
                "Dev Team/tplans/team.txt",
                Some(("Dev Team", "/tplans/team.txt")),
            ),
            ("Dev Team", Some(("Dev Team", "/"))),
            ("Dev/a/", Some(("Dev", "/a"))),
            ("docs/a", None),
        ] {
            let found = place_in_team(&teams, given).unwrap();
            let found = found.map(|found| (found.team.unwrap().name, found.path));
            let place = place.map(|(team, path)| (team.to_owned(), path.to_owned()));
            assert_eq!(found, place, "{given}");
        }
        let twice = [team(1, "Dev"), team(2, "Dev")];
        assert!(place_in_team(&twice, "Dev/a").is_err());
    }
}
