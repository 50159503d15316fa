//! `cairn cat`: the content of a file on the service, to standard output.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::output::progress::Bars;
use crate::remote::verification;
use crate::remote::{Remote, Within};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_transfer::FileTarget;
use serde_json::json;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::sync::Arc;

/// The longest file that `--json` puts into its document.
const MAX_JSON: u64 = 16 * 1024 * 1024;

/// Print a file of the service
///
/// Nothing is printed before the whole file is fetched and verified.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    node: String,
    /// An old version: its number, or the beginning of its id (see `cairn versions`)
    #[arg(long, value_name = "N|ID")]
    revision: Option<String>,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.node).await?;
    let node = remote.find(&args.node).await?.node()?;
    let too_long = |size| app.out.json && size > MAX_JSON;
    let refusal = || {
        Failure::usage(format!(
            "{} is too long for a JSON document: use `cairn download`",
            node.name
        ))
    };
    if args.revision.is_none() && too_long(node.size) {
        return Err(refusal());
    }
    let version = args.revision.as_deref();
    let revision = remote.chosen_version(&node, &args.node, version).await?;
    let content = remote.content(&node, revision).await?;
    let unverified = remote.space.unverified_path(&node).await?;
    let unverified = verification::check_content(app, &node, &content, unverified)?;
    let mut file = tempfile::tempfile().context("make a temporary file")?;
    let target = FileTarget::new(file.try_clone().context("write a temporary file")?);
    let bar = Bars::new(&app.out).file(&node.name, node.size);
    let manifest = remote
        .transfer
        .download(content, Arc::new(target), &bar)
        .await
        .context(format_args!("download {}", node.name))?;
    drop(bar);
    // An older revision may be longer than the file is now.
    if too_long(manifest.size) {
        return Err(refusal());
    }
    verification::note(app, &unverified);
    if app.out.json {
        let bytes = bytes_of(&mut file).context(format_args!("read {}", node.name))?;
        let text = String::from_utf8(bytes);
        app.out.json(&json!({
            "node_id": node.id,
            "revision_id": content.revision,
            "bytes": manifest.size,
            "text": text.as_ref().ok(),
            "base64": text.as_ref().err().map(|other| STANDARD.encode(other.as_bytes())),
            "verified": unverified.is_empty(),
        }));
        return Ok(());
    }
    print(&mut file).context(format_args!("print {}", node.name))
}

fn bytes_of(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn print(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    let mut stdout = io::stdout().lock();
    match io::copy(file, &mut stdout).and_then(|_| stdout.flush()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
