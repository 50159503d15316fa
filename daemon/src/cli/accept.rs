//! `cairn accept`: accepts what strict verification has blocked.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::failure::{CommandResult, Context as _};
use crate::output::text::{clean, count};
use cairn_control::{Accepted, typed};
use cairn_model::{ProblemCause, ProblemCode, SyncState};
use serde_json::json;
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
    let problems = status.folders.iter().flat_map(|folder| &folder.errors);
    let waiting: BTreeSet<&str> = problems
        .filter(|problem| problem.code == ProblemCode::Unverified)
        .map(|problem| problem.path.as_str())
        .collect();
    for path in &waiting {
        app.out.line(format_args!("  {}", clean(path)));
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
        "would_accept": waiting,
        "went_back": went_back,
        "views_differ": views_differ,
        "message": status.message,
    });
    dry_run::show(app, line, document)
}
