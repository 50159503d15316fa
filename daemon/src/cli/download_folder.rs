//! `cairn download-folder`: a folder of the service to this disk, without syncing it.

use crate::app::App;
use crate::cli::number::whole_number;
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::output::progress::Bars;
use crate::output::text::{clean, count, size};
use crate::remote::download_folder::{DownloadedFolder, FolderOptions};
use crate::remote::upload::FailedFile;
use crate::remote::verification;
use crate::remote::{Remote, RemoteNode, Within};
use std::path::PathBuf;

const GIB: u64 = 1024 * 1024 * 1024;

/// Download a folder with everything below it
///
/// Files that are there already with the same content are skipped. Files that are there with other content
/// stay as they are, and are listed, unless --force replaces them.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    folder: String,
    /// The folder on this machine that its content goes into [default: here, under its own name]
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Refuse a folder of more than so many GiB
    #[arg(long, value_name = "GIB", allow_negative_numbers = true, default_value_t = 5, value_parser = whole_number)]
    limit: u64,
    /// Replace files that are there with other content
    #[arg(long)]
    force: bool,
    /// Only show what would be downloaded
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.folder).await?;
    let place = remote.find(&args.folder).await?;
    let own = match &place {
        RemoteNode::Top => "cairn".to_owned(),
        RemoteNode::Node(node) => node.name.clone(),
    };
    let to = args.out.unwrap_or_else(|| PathBuf::from(own));
    let bars = Bars::new(&app.out);
    let done = remote
        .download_folder(
            place.folder()?,
            &to,
            FolderOptions {
                limit: args.limit.saturating_mul(GIB),
                verify: Config::load(&app.home)?.verify,
                force: args.force,
                dry_run: args.dry_run,
            },
            &bars,
        )
        .await?;
    drop(bars);
    verification::note(app, &done.unverified);
    if done.bytes > GIB {
        app.out
            .note("that is more than 1 GiB: `cairn add` keeps a folder in sync instead");
    }
    app.out.line(format_args!(
        "{}{} ({}{}), {} skipped",
        count(done.downloaded, "file"),
        if done.dry_run {
            " to download"
        } else {
            " downloaded"
        },
        size(done.bytes),
        match done.replaced {
            0 => String::new(),
            replaced => format!(", {replaced} in the place of another"),
        },
        done.skipped,
    ));
    app.out.json(&done);
    report_left(app, &done)
}

/// Reports the files that are not here now as they are on the service, if there are any.
fn report_left(app: &App, done: &DownloadedFolder) -> CommandResult {
    for path in &done.differing {
        app.out.note(format_args!(
            "{}: has other content than on the service, and stays",
            clean(path)
        ));
    }
    FailedFile::report(&done.failed, &app.out, "downloaded")?;
    if done.differing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} of this machine with other content not replaced: choose another folder with --out, or replace them with --force",
        count(done.differing.len() as u64, "file")
    );
    Err(Failure::new(Exit::Decision, message).mark_reported())
}
