//! `cairn confirm`: decides deletions, and overwriting, that wait for a person.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::cli::enum_values::values;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::folders::unknown_error;
use crate::local_path;
use crate::output::text::count;
use cairn_control::{Confirmation, typed};
use cairn_model::{ConfirmationKind, DeletionDecision, Side};
use serde_json::json;
use std::path::PathBuf;

/// Decide whether many files may be deleted or overwritten
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder whose files wait
    folder: PathBuf,
    #[arg(value_name = "ANSWER", value_parser = values(DeletionDecision::ALL, DeletionDecision::as_str, help))]
    decision: DeletionDecision,
    #[command(flatten)]
    dry_run: DryRun,
}

fn help(decision: DeletionDecision) -> &'static str {
    match decision {
        DeletionDecision::Delete => "Delete them where they still are: here, or on the service",
        DeletionDecision::Overwrite => "Overwrite the service's versions with what looks encrypted",
        DeletionDecision::Keep => {
            "Bring back what was deleted; keep the service's versions, with what is here beside them"
        }
    }
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let folder = local_path::folder(&args.folder)?;
    let decision = args.decision;
    if args.dry_run.is_wanted {
        return show(app, &folder, decision).await;
    }
    let request = typed::Confirm {
        folder: folder.clone(),
        decision,
    };
    let client = app.daemon().await?;
    // Afterwards nothing waits any more.
    let status = client.send(typed::Status {}).await?;
    let found = status.folders.iter().find(|one| one.local == folder);
    let waiting = found.map(|found| found.confirmations.as_slice());
    let place = deletion_place(waiting.unwrap_or_default());
    client
        .send(request)
        .await
        .context(format_args!("decide about {folder}"))?;
    app.out.line(match decision {
        DeletionDecision::Delete => format!("The files are deleted {place} too."),
        DeletionDecision::Overwrite => "The service's versions are overwritten.".to_owned(),
        DeletionDecision::Keep => {
            "The files come back; versions that were not to be overwritten stay, with what is here beside them.".to_owned()
        }
    });
    app.out
        .json(&json!({ "folder": folder, "answer": decision }));
    Ok(())
}

/// Returns where the deletions of a folder that wait would be carried out.
fn deletion_place(waiting: &[Confirmation]) -> &'static str {
    let deletions = waiting
        .iter()
        .filter(|one| one.kind == ConfirmationKind::Deletion);
    Side::place(deletions.map(|one| one.side))
}

/// Shows how many files the decision would be about.
async fn show(app: &App, folder: &str, decision: DeletionDecision) -> CommandResult {
    let status = app.daemon().await?.send(typed::Status {}).await?;
    let Some(found) = status.folders.iter().find(|one| one.local == folder) else {
        return Err(unknown_error(folder));
    };
    let is_meant = |kind| match decision {
        DeletionDecision::Delete => kind == ConfirmationKind::Deletion,
        DeletionDecision::Overwrite => kind == ConfirmationKind::Overwriting,
        DeletionDecision::Keep => true,
    };
    let waiting = found.confirmations.iter().filter(|one| is_meant(one.kind));
    let files: u64 = waiting.map(|one| one.files).sum();
    if files == 0 {
        return Err(Failure::failed(format!(
            "can't decide about {folder}: nothing in this folder waits for this answer"
        )));
    }
    let shown = count(files, "file");
    let line = match decision {
        DeletionDecision::Delete => {
            let place = deletion_place(&found.confirmations);
            format!("{shown} would be deleted {place} too.")
        }
        DeletionDecision::Overwrite => {
            format!("The service's versions of {shown} would be overwritten.")
        }
        DeletionDecision::Keep => format!(
            "{shown} would stay: what was deleted would come back, and the service's versions would stay beside what is here."
        ),
    };
    let document = json!({ "folder": folder, "answer": decision, "files": files });
    dry_run::show(app, line, document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

    #[test]
    fn a_decision_says_where_files_are_deleted() {
        let waiting = |kind, side| Confirmation {
            side,
            files: 3,
            kind,
        };
        let here = waiting(ConfirmationKind::Deletion, Side::Local);
        let there = waiting(ConfirmationKind::Deletion, Side::Remote);
        let overwriting = waiting(ConfirmationKind::Overwriting, Side::Remote);
        assert_eq!(deletion_place(from_ref(&here)), "on this device");
        assert_eq!(
            deletion_place(&[overwriting, here.clone()]),
            "on this device"
        );
        assert_eq!(deletion_place(from_ref(&there)), "on the service");
        assert_eq!(deletion_place(&[here, there]), "on the other side");
        assert_eq!(deletion_place(&[]), "on the other side");
    }
}
