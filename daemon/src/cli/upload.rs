//! `cairn upload`: files and folders to the service, without syncing them.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::local_path;
use crate::output::node::NodeView;
use crate::output::progress::Bars;
use crate::output::text::{clean, count, size};
use crate::remote::own_files::OwnFiles;
use crate::remote::upload::FailedFile;
use crate::remote::{Remote, Within};
use cairn_model::{Name, NodeId};
use cairn_platform::{Disk as _, FileKind, RealDisk};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Encrypt and upload a file or folder
///
/// Cairn's own files (an installation's, and the trash of a synced folder) are left out.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The file or folder on this machine
    local: PathBuf,
    /// The folder on the service that it goes into: a path such as /a/b, or an id
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    to: String,
    /// Name on the service [default: its own name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Upload a folder with everything below it
    #[arg(long, short)]
    recursive: bool,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let local = local_path::file(&args.local)?;
    let shown = args.local.display();
    // What a symbolic link points to is meant, since it was named.
    let local = local
        .canonicalize()
        .map_err(|e| Failure::usage(format!("can't upload {shown}: {e}")))?;
    let own_files = OwnFiles::of(&app.home);
    own_files.check_named(&local)?;
    let stat = RealDisk::new()
        .stat(&local)
        .context(format_args!("upload {shown}"))?;
    let own = || {
        args.local
            .file_name()
            .or(local.file_name())
            .and_then(|name| name.to_str())
            .map(str::to_owned)
    };
    let name = args.name.clone().or_else(own).unwrap_or_default();
    let name = Name::new(name).map_err(|e| {
        Failure::usage(format!("can't upload {shown}: {e}; choose one with --name"))
    })?;
    let remote = Remote::open(app, &args.within).await?;
    let parent = remote.find(&args.to).await?.folder()?;
    let bars = Bars::new(&app.out);
    match stat.kind {
        FileKind::File => {
            let node = remote
                .upload_file(&local, &stat, parent, &name, &bars)
                .await?;
            let path = remote.path_of(&node, &mut Default::default()).await?;
            app.out.line(format_args!(
                "{}  {}  {}",
                clean(&path),
                size(node.size),
                node.id
            ));
            app.out.json(&json!({ "node": NodeView::new(&node, path) }));
            Ok(())
        }
        FileKind::Dir if args.recursive => {
            folder(app, &remote, &local, own_files, (parent, &name)).await
        }
        FileKind::Dir => Err(Failure::usage(format!(
            "{shown} is a folder: pass --recursive"
        ))),
        FileKind::Symlink | FileKind::Other => {
            Err(Failure::usage(format!("{shown} is not a regular file")))
        }
    }
}

async fn folder(
    app: &App,
    remote: &Remote,
    local: &Path,
    own: OwnFiles,
    to: (Option<NodeId>, &Name),
) -> CommandResult {
    let bars = Bars::new(&app.out);
    let done = remote.upload_folder(local, own, to, &bars).await?;
    drop(bars);
    for left_out in &done.left_out {
        let (path, message) = (clean(&left_out.path), clean(&left_out.message));
        app.out.note(format_args!("{path}: {message}"));
    }
    app.out.line(format_args!(
        "{} uploaded, {}, {} made{}",
        count(done.files, "file"),
        size(done.bytes),
        count(done.folders, "folder"),
        match done.unchanged {
            0 => String::new(),
            unchanged => format!(", {} unchanged", count(unchanged, "file")),
        }
    ));
    app.out.json(&done);
    FailedFile::report(&done.failed, &app.out, "uploaded")
}
