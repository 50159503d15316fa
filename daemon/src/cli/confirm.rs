//! `cairn confirm`: the answer to deletions that wait for a person.

use crate::app::App;
use crate::cli::words::words;
use crate::failure::{Doing as _, Outcome};
use crate::local_path;
use cairn_control::typed;
use cairn_model::DeletionDecision;
use serde_json::json;
use std::path::PathBuf;

/// Decide whether many files may be deleted
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder whose deletions wait
    folder: PathBuf,
    #[arg(value_parser = words(DeletionDecision::as_str, &[
        (DeletionDecision::Delete, "Delete them on the other side too"),
        (DeletionDecision::Keep, "Bring them back where they were deleted"),
    ]))]
    answer: DeletionDecision,
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let folder = local_path::folder(&args.folder)?;
    let answer = args.answer;
    let request = typed::Confirm {
        folder: folder.clone(),
        answer,
    };
    app.daemon()
        .await?
        .send(request)
        .await
        .doing(format_args!("answer for {folder}"))?;
    app.out.line(match answer {
        DeletionDecision::Delete => "The files are deleted on the other side too.",
        DeletionDecision::Keep => "The files come back.",
    });
    app.out.json(&json!({ "folder": folder, "answer": answer }));
    Ok(())
}
