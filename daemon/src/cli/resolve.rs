//! `cairn resolve`: which version of a conflict keeps the name.

use crate::app::App;
use crate::cli::local_path;
use crate::failure::{Doing as _, Outcome};
use cairn_control::{Keep, Request};
use serde_json::json;
use std::path::PathBuf;

/// Settle a conflict; the version that loses goes to the local trash
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The file, or its conflict copy
    path: PathBuf,
    /// What stays
    #[arg(long, value_enum)]
    keep: KeepArg,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum KeepArg {
    /// The conflict copy takes the name
    Mine,
    /// What has the name stays
    Theirs,
    /// Both, each under its name
    Both,
    /// One text with the changes of both
    Merge,
}

pub(super) async fn run(app: &App, args: Args) -> Outcome {
    let path = local_path::file(&args.path)?;
    let keep = match args.keep {
        KeepArg::Mine => Keep::Mine,
        KeepArg::Theirs => Keep::Theirs,
        KeepArg::Both => Keep::Both,
        KeepArg::Merge => Keep::Merge,
    };
    let text = path.display().to_string();
    let request = Request::Resolve {
        path: text.clone(),
        keep,
    };
    app.daemon()
        .await?
        .order(request)
        .await
        .doing(format_args!("resolve {text}"))?;
    app.out
        .line(format_args!("The conflict of {text} is settled."));
    app.out.json(&json!({ "resolved": text, "keep": keep }));
    Ok(())
}
