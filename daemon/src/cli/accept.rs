//! `cairn accept`: accepts what strict verification has blocked.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::{CommandResult, Context as _};
use crate::output::text::{clean, count};
use cairn_control::{Accepted, Status, typed};
use cairn_model::{Problem, ProblemCause, ProblemCode, SyncState};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Accept changes blocked by `sync.verify = "strict"`, or that the service went back
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    dry_run: DryRun,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    if args.dry_run.is_wanted {
        return show(app).await;
    }
    let accepted: Accepted = app
        .daemon()
        .await?
        .send(typed::Accept {})
        .await
        .context("accept what was held")?;
    app.out.line(match accepted.accepted {
        0 => "Nothing waits to be accepted.".to_owned(),
        1 => "1 change is taken.".to_owned(),
        many => format!("{many} changes are taken."),
    });
    app.out.json(&accepted);
    Ok(())
}

/// Shows the changes that wait, and the reason why nothing is synced, if there is one.
async fn show(app: &App) -> CommandResult {
    let status = app.daemon().await?.send(typed::FullStatus {}).await?;
    let waiting = waiting_changes(&status);
    for (folder, problem) in &waiting {
        app.out.line(format_args!(
            "  {}: {}",
            clean(folder),
            change_line(problem)
        ));
    }
    let is_found = |causes: &[ProblemCause]| {
        let mut problems = status.folders.iter().flat_map(|folder| &folder.errors);
        problems.any(|problem| causes.contains(&problem.cause))
    };
    let went_back = is_found(&[ProblemCause::WentBack, ProblemCause::WentBackCompared]);
    let views_differ = is_found(&[ProblemCause::ViewsDiffer]);
    if went_back {
        app.out
            .line("  the earlier state that the service went back to");
    }
    if views_differ {
        app.out
            .line("  that the service shows another device other files");
    }
    let paths: BTreeSet<&str> = waiting.iter().map(|(_, one)| one.path.as_str()).collect();
    let changes = waiting.len() as u64 + u64::from(went_back) + u64::from(views_differ);
    let mut line = match changes {
        0 => "Nothing waits to be accepted.".to_owned(),
        changes => format!("{} would be taken.", count(changes, "change")),
    };
    if let Some(reason) = status
        .message
        .as_ref()
        .filter(|_| status.state == SyncState::Error)
    {
        line.push_str(&format!(" Nothing is synced now: {}", clean(reason)));
    }
    let document = json!({
        "would_accept": paths,
        "changes": waiting.iter().map(view).collect::<Vec<_>>(),
        "went_back": went_back,
        "views_differ": views_differ,
        "message": status.message,
    });
    dry_run::show(app, line, document)
}

/// A change that waits, with its local folder.
type Waiting<'a> = (&'a str, &'a Problem);

fn waiting_changes(status: &Status) -> BTreeSet<Waiting<'_>> {
    let of_folders = status.folders.iter().flat_map(|folder| {
        let errors = folder.errors.iter();
        errors.map(move |problem| (folder.local.as_str(), problem))
    });
    of_folders
        .filter(|(_, problem)| problem.code == ProblemCode::Unverified)
        .collect()
}

/// Says what a change that waits does, and to what.
fn change_line(problem: &Problem) -> String {
    let path = clean(&problem.path);
    match (problem.values.detail.as_deref(), &problem.values.name) {
        (Some("created"), _) => format!("{path} is new"),
        (Some("deleted"), _) => format!("{path} is deleted"),
        (Some("moved"), Some(to)) => format!("{path} is moved to {}", clean(to)),
        (Some("moved"), None) => format!("{path} is moved out of this folder"),
        (Some("changed"), _) => format!("{path} has another content or mark"),
        // An older daemon, or index, does not say.
        (Some(_) | None, _) => format!("{path} is changed or deleted"),
    }
}

fn view(&(folder, problem): &Waiting<'_>) -> Value {
    json!({
        "folder": folder,
        "path": problem.path,
        "change": problem.values.detail,
        "new_path": problem.values.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::ProblemValues;

    #[test]
    fn each_change_that_waits_says_what_it_does() {
        for (detail, name, expected) in [
            (Some("created"), None, "d/f is new"),
            (Some("deleted"), None, "d/f is deleted"),
            (Some("moved"), Some("g"), "d/f is moved to g"),
            (Some("moved"), None, "d/f is moved out of this folder"),
            (Some("changed"), None, "d/f has another content or mark"),
            (None, None, "d/f is changed or deleted"),
        ] {
            let values = ProblemValues {
                detail: detail.map(str::to_owned),
                name: name.map(str::to_owned),
                ..ProblemValues::default()
            };
            let problem = Problem::new("d/f", ProblemCause::Unverified, "", "").with(values);
            assert_eq!(change_line(&problem), expected);
        }
    }
}
