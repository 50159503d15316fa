//! `cairn rewind`: a folder as it was at a time.

use crate::app::App;
use crate::cli::prompt;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::text::{clean, count, local_time, now_ms, rfc3339};
use crate::past::carry_out::{Done, Rewind};
use crate::past::{gap, load, scope};
use crate::remote::{Remote, Within};
use crate::time_argument;
use cairn_control::typed;
use cairn_space::past::{Incomplete, Newer, Past, Plan};
use serde_json::{Value, json};

/// The longest wait, in milliseconds, until the changes of this device are on the service.
const SEND_TIMEOUT_MS: u64 = 20_000;
/// Paths of one kind that the plan shows.
const SHOWN: usize = 5;
/// The limit of every plan, however much the service keeps.
const FORGOTTEN: &str =
    "What was deleted for good since does not show: the service has forgotten it.";

/// Restore a folder to an earlier time
///
/// Shows a plan first, and asks. Items that were deleted since come out of the service's trash, those
/// made since go there, moved ones go back, and changed files get their version of that time; the
/// present one stays among their versions. Nothing is uploaded or lost, and `cairn undo` takes it back.
///
/// The service tells what was moved, deleted or brought back since; of one that keeps no history of
/// places, this device knows the moves that it saw, and says so. Items that were deleted for good
/// since can't come back and don't show: the service has forgotten them. All else that can't be as it
/// was is listed.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A folder or file: a path such as /a/b, one in a synced folder, or an id
    #[arg(default_value = "/")]
    path: String,
    /// The time: RFC 3339, `2h ago`, or a local date and time
    #[arg(long, value_name = "TIME")]
    to: String,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
    /// Don't ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let at_ms = past_time(app, &args.to)?;
    let remote = Remote::open_at(app, &args.within, &args.path).await?;
    if !args.dry_run {
        send_own_changes(app).await?;
    }
    let past = load(&app.home, &remote, Some(at_ms)).await?;
    let (scope, path) = scope(&past, &remote, &args.path, at_ms)?;
    let rewind = Rewind {
        home: &app.home,
        remote: &remote,
        scope,
        at_ms,
        newer: Newer::Trash,
    };
    let planned = rewind.plan_from(past).await?;
    carry_out(app, &rewind, planned, &path, args.dry_run, args.yes).await
}

/// The use of a plan that no person sees here.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SilentRun<'a> {
    Plan,
    /// Carries the plan out. If a person agreed to one elsewhere, it has to be the same.
    CarryOut {
        confirmed: Option<&'a Value>,
    },
}

/// Rewinds as the command does, without a word to a person: plans, carries the plan out where that is asked for, and
/// returns the document for programs.
pub(super) async fn rewind_silently(
    app: &App,
    within: &Within,
    path: &str,
    to: &str,
    run: SilentRun<'_>,
) -> CommandResult<Value> {
    let at_ms = past_time(app, to)?;
    let dry_run = run == SilentRun::Plan;
    let remote = Remote::open_at(app, within, path).await?;
    if !dry_run {
        send_own_changes(app).await?;
    }
    let past = load(&app.home, &remote, Some(at_ms)).await?;
    let (scope, path) = scope(&past, &remote, path, at_ms)?;
    let rewind = Rewind {
        home: &app.home,
        remote: &remote,
        scope,
        at_ms,
        newer: Newer::Trash,
    };
    let (past, mut plan) = rewind.plan_from(past).await?;
    let misplaced = note_misplaced(&rewind, &past, &mut plan, &path);
    let warning = gap(&past, Some(at_ms), &app.zone);
    let mut document = document(&path, &past, &plan, (at_ms, warning.as_deref()), dry_run);
    if let SilentRun::CarryOut {
        confirmed: Some(confirmed),
    } = run
    {
        check_confirmed(confirmed, &document["plan"])?;
    }
    if !dry_run && !plan.is_empty() {
        let done = carry_out_noting(&rewind, past, plan, misplaced).await?;
        document["done"] = json!(done);
        document["session"] = json!(remote.journal.noted_session());
    }
    Ok(document)
}

/// Refuses a plan that is another one than a person agreed to.
fn check_confirmed(confirmed: &Value, plan: &Value) -> CommandResult {
    if confirmed == plan {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Decision,
        "what is there was changed after the person agreed to the plan, and nothing was done: call again to have them asked about the plan as it is now",
    ))
}

/// Returns a rewind for programs; `warning` says what is not known of the time.
fn document(
    path: &str,
    past: &Past,
    plan: &Plan,
    (at_ms, warning): (i64, Option<&str>),
    dry_run: bool,
) -> Value {
    let warnings = warning.into_iter().chain([FORGOTTEN]);
    let warning = warnings.collect::<Vec<_>>().join(" ");
    json!({
        "path": path,
        "at": rfc3339(at_ms),
        "dry_run": dry_run,
        "warning": warning,
        "plan": plan_json(past, plan),
    })
}

/// Reads a time in the past.
pub(super) fn past_time(app: &App, text: &str) -> CommandResult<i64> {
    time_argument::parse_past(text, now_ms(), &app.zone).ok_or_else(|| {
        Failure::usage(format!(
            "`{text}` is not a time in the past: {}",
            time_argument::PAST_EXAMPLES
        ))
    })
}

/// Lets a running daemon send what is changed here: it would come as a conflict later.
pub(super) async fn send_own_changes(app: &App) -> CommandResult {
    let Some(client) = app.running_daemon().await? else {
        return Ok(());
    };
    let timeout_ms = Some(SEND_TIMEOUT_MS);
    if let Err(error) = client.send(typed::WaitUntilSynced { timeout_ms }).await {
        app.out.note(format_args!(
            "not everything here is in sync ({}): what is changed here and not sent yet stays, and may come as a conflict",
            clean(&error.to_string())
        ));
    }
    Ok(())
}

/// Shows a plan, asks, and carries it out.
pub(super) async fn carry_out(
    app: &App,
    rewind: &Rewind<'_>,
    (past, mut plan): (Past, Plan),
    path: &str,
    dry_run: bool,
    yes: bool,
) -> CommandResult {
    let misplaced = note_misplaced(rewind, &past, &mut plan, path);
    let at = local_time(rewind.at_ms, &app.zone);
    app.out.line(format_args!("{} as of {at}:", clean(path)));
    let warning = gap(&past, Some(rewind.at_ms), &app.zone);
    for line in plan_lines(&past, &plan, warning.as_deref()) {
        app.out.line(line);
    }
    let about = (rewind.at_ms, warning.as_deref());
    let mut document = document(path, &past, &plan, about, dry_run);
    if dry_run || plan.is_empty() {
        app.out.json(&document);
        if dry_run || plan.incomplete.is_empty() {
            return Ok(());
        }
        return Err(left_behind_error(plan.incomplete.len()));
    }
    if !yes && !prompt::confirm("Carry it out? [y/N] ")? {
        return Err(Failure::new(
            Exit::Decision,
            "nothing was done: add --yes to carry it out, or --dry-run to see the plan only",
        ));
    }
    let done = carry_out_noting(rewind, past, plan, misplaced).await?;
    let session = rewind.remote.journal.noted_session();
    for line in done_lines(&done) {
        app.out.line(line);
    }
    if let Some(session) = session {
        app.out.line(format_args!(
            "`cairn undo --session {session}` takes it back."
        ));
    }
    document["done"] = json!(done);
    document["session"] = json!(session);
    app.out.json(&document);
    if done.failed.is_empty() {
        return Ok(());
    }
    Err(left_behind_error(done.failed.len()))
}

/// Adds to a plan what keeps the folder or file itself from being where it was, which the rewind of a folder does not
/// change. To bring something back beside what is there now is all that is asked for elsewhere.
fn note_misplaced(
    rewind: &Rewind<'_>,
    past: &Past,
    plan: &mut Plan,
    path: &str,
) -> Option<Incomplete> {
    if rewind.newer == Newer::Keep {
        return None;
    }
    let misplaced = plan.misplaced(past, rewind.scope, path, rewind.at_ms);
    plan.incomplete.extend(misplaced.clone());
    misplaced
}

/// Carries a plan out. Also of a plan that is made anew on the way, the result has what is misplaced.
async fn carry_out_noting(
    rewind: &Rewind<'_>,
    past: Past,
    plan: Plan,
    misplaced: Option<Incomplete>,
) -> CommandResult<Done> {
    let mut done = rewind.carry_out(past, plan).await?;
    let missing = misplaced.filter(|one| !done.failed.contains(one));
    done.failed.extend(missing);
    Ok(done)
}

fn left_behind_error(items: usize) -> Failure {
    let message = format!(
        "{} could not be made what {}: see above",
        count(items as u64, "item"),
        they_were(items)
    );
    Failure::new(Exit::Decision, message).mark_reported()
}

/// Returns a plan for people, with what is not known of the time.
fn plan_lines(past: &Past, plan: &Plan, warning: Option<&str>) -> Vec<String> {
    let warned = warning.map(|warning| format!("  {warning}"));
    if plan.is_empty() && plan.incomplete.is_empty() {
        let known = if warning.is_some() {
            "known to be "
        } else {
            ""
        };
        let nothing = format!(
            "  Nothing that the service still has is {known}different from then; what was deleted for good since does not show."
        );
        return [nothing].into_iter().chain(warned).collect();
    }
    let mut lines = group_lines(past, plan);
    lines.extend(warned);
    lines
}

fn group_lines(past: &Past, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let mut group = |text: String, paths: Vec<String>| {
        if paths.is_empty() {
            return;
        }
        lines.push(format!("  {text}"));
        let shown = paths
            .iter()
            .take(SHOWN)
            .map(|path| format!("    {}", clean(path)));
        lines.extend(shown);
        if paths.len() > SHOWN {
            lines.push(format!("    … and {} more", paths.len() - SHOWN));
        }
    };
    let paths = |ids: &mut dyn Iterator<Item = cairn_model::NodeId>| -> Vec<String> {
        ids.map(|id| past.path(id)).collect()
    };
    group(
        format!(
            "{} back from the trash",
            count_that(plan.files_back, "file", ["comes", "come"])
        ),
        paths(&mut plan.back.iter().copied()),
    );
    group(
        format!(
            "{} to the trash",
            count_that(plan.files_trashed, "file", ["goes", "go"])
        ),
        paths(&mut plan.trash.iter().copied()),
    );
    group(
        format!(
            "{} back to where {}",
            count_that(plan.moves.len() as u64, "item", ["moves", "move"]),
            they_were(plan.moves.len())
        ),
        paths(&mut plan.moves.iter().map(|step| step.node)),
    );
    group(
        format!(
            "{} changed since: the present content stays among the versions",
            count(plan.contents.len() as u64, "file")
        ),
        paths(&mut plan.contents.iter().map(|content| content.node)),
    );
    group(
        "can't be as it was:".to_owned(),
        plan.incomplete
            .iter()
            .map(|one| format!("{}: {}", one.path, one.message))
            .collect(),
    );
    lines
}

fn they_were(items: usize) -> &'static str {
    if items == 1 { "it was" } else { "they were" }
}

/// Returns a number of things with the form of the verb that goes with it, for one and for several.
fn count_that(number: u64, one: &str, [singular, plural]: [&str; 2]) -> String {
    let verb = if number == 1 { singular } else { plural };
    format!("{} {verb}", count(number, one))
}

fn plan_json(past: &Past, plan: &Plan) -> Value {
    let paths = |ids: &[cairn_model::NodeId]| -> Vec<String> {
        ids.iter().map(|id| past.path(*id)).collect()
    };
    let moves: Vec<_> = plan
        .moved_paths(past)
        .into_iter()
        .map(|(from, to)| json!({ "from": from, "to": to }))
        .collect();
    let contents: Vec<_> = plan
        .contents
        .iter()
        .map(|content| {
            json!({
                "path": past.path(content.node),
                "version": content.revision.number,
                "revision_id": content.revision.id,
            })
        })
        .collect();
    json!({
        "files_back": plan.files_back,
        "files_trashed": plan.files_trashed,
        "files_changed": contents.len(),
        "back": paths(&plan.back),
        "trash": paths(&plan.trash),
        "moves": moves,
        "contents": contents,
        "incomplete": plan.incomplete,
    })
}

fn done_lines(done: &Done) -> Vec<String> {
    let mut lines = vec![format!(
        "Done: {} taken out of the trash, {} put there, {}, {} of files.",
        count(done.restored, "item"),
        count(done.trashed, "item"),
        count(done.moved, "move"),
        count(done.contents, "earlier content"),
    )];
    let left = done.failed.iter();
    lines.extend(left.map(|one| format!("  {}: {}", clean(&one.path), clean(&one.message))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plan_that_was_confirmed_is_carried_out() {
        let plan = |trash: &[&str]| json!({ "files_trashed": trash.len(), "trash": trash });
        check_confirmed(&plan(&["/a"]), &plan(&["/a"])).unwrap();
        for now in [plan(&["/a", "/b"]), plan(&["/b"]), plan(&[])] {
            let refused = check_confirmed(&plan(&["/a"]), &now).unwrap_err();
            assert!(refused.message.contains("nothing was done"), "{now}");
        }
    }

    #[test]
    fn an_empty_plan_does_not_speak_of_what_the_service_has_forgotten() {
        let (past, plan) = (Past::default(), Plan::default());
        for warning in [None, Some("It knows moves only since today.")] {
            let lines = plan_lines(&past, &plan, warning);
            assert!(lines[0].contains("that the service still has"), "{lines:?}");
            assert!(lines[0].contains("deleted for good"), "{lines:?}");
            assert_eq!(lines.len(), 1 + usize::from(warning.is_some()));
            let document = document("/", &past, &plan, (0, warning), true);
            let full = document["warning"].as_str().unwrap();
            assert!(full.starts_with(warning.unwrap_or(FORGOTTEN)), "{full}");
            assert!(full.ends_with(FORGOTTEN), "{full}");
        }
    }
}
