//! `cairn confirm`: the answer to deletions that wait for a person.

use crate::app::App;
use crate::cli::local_path;
use crate::failure::{Doing as _, Outcome};
use cairn_control::{Answer, Request};
use serde_json::json;
use std::path::PathBuf;

/// Answer whether many files may be deleted
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The folder that asks
    folder: PathBuf,
    #[arg(value_enum)]
    answer: AnswerArg,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum AnswerArg {
    /// Delete them on the other side too
    Delete,
    /// Bring them back where they were deleted
    Keep,
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let folder = local_path::folder(&args.folder)?;
    let answer = match args.answer {
        AnswerArg::Delete => Answer::Delete,
        AnswerArg::Keep => Answer::Keep,
    };
    let request = Request::Confirm {
        folder: folder.clone(),
        answer,
    };
    app.daemon()
        .await?
        .order(request)
        .await
        .doing(format_args!("answer for {folder}"))?;
    app.out.line(match answer {
        Answer::Delete => "The files are deleted on the other side too.",
        Answer::Keep => "The files come back.",
    });
    app.out.json(&json!({ "folder": folder, "answer": answer }));
    Ok(())
}
