//! `cairn download`: one file of the service to this disk.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::progress::Bars;
use crate::output::text::size;
use crate::remote::verification;
use crate::remote::{Remote, Within};
use cairn_model::RevisionId;
use cairn_wire::nodes::Node;
use serde_json::json;
use std::path::{MAIN_SEPARATOR, Path, PathBuf, is_separator};

/// Download and decrypt a file
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    node: String,
    /// Target: a file, or an existing folder [default: here, under its own name]
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
    /// An old version: its number, or the beginning of its id (see `cairn versions`)
    #[arg(long, value_name = "N|ID")]
    revision: Option<String>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    if args.out.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "`cairn cat` prints a file; for a file that is called `-`, say --out ./-",
        ));
    }
    let remote = Remote::open_at(app, &args.within, &args.node).await?;
    let node = remote.find(&args.node).await?.node()?;
    let version = args.revision.as_deref();
    let revision = remote.chosen_version(&node, &args.node, version).await?;
    let out = args.out.as_deref();
    fetch(app, &remote, &node, revision, out, args.force).await
}

/// Downloads one revision of a node, and says so.
pub(super) async fn fetch(
    app: &App,
    remote: &Remote,
    node: &Node,
    revision: Option<RevisionId>,
    out: Option<&Path>,
    force: bool,
) -> CommandResult {
    let to = target(out, &node.name)?;
    let to = std::path::absolute(&to).context(format_args!("find {}", to.display()))?;
    let content = remote.content(node, revision).await?;
    let unverified = remote.space.unverified_path(node).await?;
    let unverified = verification::check_content(app, node, &content, unverified)?;
    let manifest = remote
        .download_file(
            &node.name,
            node.size,
            content,
            &to,
            force,
            &Bars::new(&app.out),
        )
        .await?;
    let path = to.display().to_string();
    app.out.line(format_args!(
        "{}  {}",
        crate::output::text::clean(&path),
        size(manifest.size)
    ));
    verification::note(app, &unverified);
    app.out.json(&json!({
        "path": path,
        "bytes": manifest.size,
        "node_id": node.id,
        "revision_id": content.revision,
        "verified": unverified.is_empty(),
    }));
    Ok(())
}

/// The name is one component (it was checked when the node was found), so it can't lead elsewhere.
fn target(out: Option<&Path>, name: &str) -> CommandResult<PathBuf> {
    match out {
        Some(path) if path.is_dir() => Ok(path.join(name)),
        Some(path) if ends_as_folder(path) => Err(Failure::usage(format!(
            "there is no folder {}: make it first, or leave out the {} at its end to give the file that name",
            path.display(),
            MAIN_SEPARATOR
        ))),
        Some(path) => Ok(path.to_owned()),
        None => Ok(PathBuf::from(name)),
    }
}

/// Returns whether a path has a separator at its end, as only one of a folder may.
fn ends_as_folder(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|last| is_separator(char::from(*last)))
}
