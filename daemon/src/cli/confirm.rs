//! `cairn confirm`: decides deletions, and overwriting, that wait for a person.

use crate::app::App;
use crate::cli::enum_values::values;
use crate::failure::{CommandResult, Context as _};
use crate::local_path;
use cairn_control::typed;
use cairn_model::DeletionDecision;
use serde_json::json;
use std::path::PathBuf;

/// Decide whether many files may be deleted or overwritten
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder whose files wait
    folder: PathBuf,
    #[arg(value_name = "ANSWER", value_parser = values(DeletionDecision::ALL, DeletionDecision::as_str, help))]
    decision: DeletionDecision,
}

fn help(decision: DeletionDecision) -> &'static str {
    match decision {
        DeletionDecision::Delete => "Delete them on the other side too",
        DeletionDecision::Overwrite => "Overwrite the service's versions with what looks encrypted",
        DeletionDecision::Keep => {
            "Bring back what was deleted; keep the service's versions, with what is here beside them"
        }
    }
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let folder = local_path::folder(&args.folder)?;
    let decision = args.decision;
    let request = typed::Confirm {
        folder: folder.clone(),
        decision,
    };
    app.daemon()
        .await?
        .send(request)
        .await
        .context(format_args!("decide about {folder}"))?;
    app.out.line(match decision {
        DeletionDecision::Delete => "The files are deleted on the other side too.",
        DeletionDecision::Overwrite => "The service's versions are overwritten.",
        DeletionDecision::Keep => {
            "The files come back; versions that were not to be overwritten stay, with what is here beside them."
        }
    });
    app.out
        .json(&json!({ "folder": folder, "answer": decision }));
    Ok(())
}
