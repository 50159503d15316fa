//! `cairn man`: the manual pages, for whoever packages Cairn.

use crate::app::App;
use crate::failure::{Doing as _, Outcome};
use clap::CommandFactory as _;
use serde_json::json;
use std::path::PathBuf;

/// Write the manual pages to a directory
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Target directory; it is made if it is missing
    directory: PathBuf,
}

pub(super) fn run(app: &App, args: &Args) -> Outcome {
    let directory = &args.directory;
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(super::Cli::command(), directory))
        .doing(format_args!(
            "write the manual pages to {}",
            directory.display()
        ))?;
    app.out.line(format_args!(
        "The manual pages are in {}.",
        directory.display()
    ));
    app.out.json(&json!({ "directory": directory }));
    Ok(())
}
