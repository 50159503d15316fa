//! `cairn download-folder`: a folder of the service to this disk, without syncing it.

use crate::app::App;
use crate::config::Config;
use crate::failure::CommandResult;
use crate::output::progress::Bars;
use crate::output::text::{count, size};
use crate::remote::upload::FailedFile;
use crate::remote::verification;
use crate::remote::{Remote, RemoteNode, Within};
use std::path::PathBuf;

const GIB: u64 = 1024 * 1024 * 1024;

/// Download a folder with everything below it
///
/// Files that are there already with the same content are skipped, others replaced.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    folder: String,
    /// The folder on this machine that its content goes into [default: here, under its own name]
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Refuse a folder of more than so many GiB
    #[arg(long, value_name = "GIB", default_value_t = 5)]
    limit: u64,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open(app, &args.within).await?;
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
            args.limit.saturating_mul(GIB),
            Config::load(&app.home)?.verify,
            &bars,
        )
        .await?;
    drop(bars);
    verification::note(app, &done.unverified);
    if done.bytes > GIB {
        app.out
            .note("that was more than 1 GiB: `cairn add` keeps a folder in sync instead");
    }
    app.out.line(format_args!(
        "{} downloaded ({}), {} skipped",
        count(done.downloaded, "file"),
        size(done.bytes),
        done.skipped
    ));
    app.out.json(&done);
    FailedFile::report(&done.failed, &app.out, "downloaded")
}
