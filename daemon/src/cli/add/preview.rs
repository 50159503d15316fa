//! `cairn add --dry-run`: shows what the first merge of a pair would do, or other options of a pair that there is.

use super::counts::{NOTHING_CHANGED, count_line, example_lines, view};
use super::walk::{Places, Walk, paths, place_lines};
use super::{Args, existing, remote_path};
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::folders::{pairs, spaces};
use crate::local_path;
use crate::output::Out;
use crate::remote::{Remote, RemoteNode, Within};
use cairn_engine::Rules;
use cairn_index::FolderSettings;
use cairn_model::{Kind, RelPath, SyncMode};
use cairn_platform::RealDisk;
use cairn_space::{FileCount, MergePreview, RemoteFolder};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A longer rules file is not read.
const MAX_RULES: u64 = 1024 * 1024;
/// The rules file at the root of a folder.
const IGNORE_FILE: &str = ".cairnignore";

pub(super) async fn run(app: &App, args: &Args) -> CommandResult {
    let local = PathBuf::from(local_path::folder(&args.local)?);
    if local.exists() && !local.is_dir() {
        return Err(Failure::usage(format!(
            "can't sync {}: it isn't a folder",
            local.display()
        )));
    }
    crate::folders::check_own_files(&app.home, &local)?;
    let remote = Remote::open(
        app,
        &Within {
            team: args.space.clone(),
        },
    )
    .await?;
    if args.private {
        super::private::check(remote.space.keys().space())?;
    }
    let team = args.space.as_ref().map(|_| remote.space.keys().space());
    let all = spaces::open_all(&app.home)?;
    let text = local_path::folder(&args.local)?;
    let path = remote_path(args, &all, team, &text)?;
    pairs::check_pairs(&all, team, &local, &path)?;
    let pair = pairs::find_in_space(&all, team, &text)?;
    drop(all);
    match pair.filter(|pair| pair.row.remote_node.is_some()) {
        Some(pair) => existing::run(app, &pair, &args.settings_over(&pair.row.settings)).await,
        None => first_merge(app, args, &remote, &local, &path).await,
    }
}

async fn first_merge(
    app: &App,
    args: &Args,
    remote: &Remote,
    local: &Path,
    path: &str,
) -> CommandResult {
    let folder = match remote.look_up(path).await? {
        None => RemoteFolder::Absent,
        Some(RemoteNode::Top) => RemoteFolder::Root,
        Some(RemoteNode::Node(node)) if node.kind == Kind::Folder => RemoteFolder::Node(node.id),
        Some(RemoteNode::Node(_)) => {
            return Err(Failure::usage(format!(
                "{path} is a file on the service: name a folder"
            )));
        }
    };
    let rules = rules(remote, args, local, folder).await?;
    let rules = rules.with_own_places(local, &app.home.own_places());
    let walk = Mutex::new(Walk::new(rules, local));
    let left_out = |path: &RelPath, is_dir: bool| walk.lock().is_left_out(path, is_dir);
    let preview = remote.space.preview_merge(local, folder, &left_out);
    let preview = preview.await.context("compare both sides")?;
    let mode = args.mode.unwrap_or_default();
    let places = walk.into_inner().places;
    for line in lines(&app.out, &preview, mode, &places) {
        app.out.line(line);
    }
    app.out
        .json(&document(&preview, mode, local, path, &places));
    Ok(())
}

/// The rules that the pair would have: those of this disk, or else the service's.
async fn rules(
    remote: &Remote,
    args: &Args,
    local: &Path,
    folder: RemoteFolder,
) -> CommandResult<Rules> {
    let settings = FolderSettings {
        mode: args.mode.unwrap_or_default(),
        exclude: args.exclude.clone(),
        only: args.only.clone(),
        ..FolderSettings::default()
    };
    let has_own = local.join(IGNORE_FILE).exists();
    let shared = match folder.parent() {
        Some(parent) if !has_own => remote.child(parent, IGNORE_FILE).await?,
        Some(_) | None => None,
    };
    let is_usual = |node: &Node| node.kind == Kind::File && node.size <= MAX_RULES;
    let Some(node) = shared.filter(is_usual) else {
        return Ok(Rules::load(&RealDisk::new(), local, &settings));
    };
    let text = remote.read(&node, None).await?;
    let scratch = tempfile::tempdir().context("make a temporary folder")?;
    std::fs::write(scratch.path().join(IGNORE_FILE), text).context("write the rules")?;
    Ok(Rules::load(&RealDisk::new(), scratch.path(), &settings))
}

/// The effect that the mode has on each kind.
fn effects(preview: &MergePreview, mode: SyncMode) -> Vec<(&'static str, &FileCount)> {
    let (up, down, different) = match mode {
        SyncMode::TwoWay => (
            "to upload",
            "to download",
            "in two versions: both are kept, one as a conflict copy",
        ),
        SyncMode::Upload => (
            "to upload",
            "only on the service: they stay there",
            "in two versions: both stay as they are",
        ),
        SyncMode::Download => (
            "only here: they stay here",
            "to download",
            "in two versions: both stay as they are",
        ),
    };
    vec![
        (up, &preview.local),
        (down, &preview.remote),
        (different, &preview.different),
        ("equal: they are linked without a transfer", &preview.equal),
        (
            "skipped: no files or folders, or with a name or rights that forbid it",
            &preview.skipped,
        ),
    ]
}

fn lines(out: &Out, preview: &MergePreview, mode: SyncMode, places: &Places) -> Vec<String> {
    let mut lines = Vec::new();
    for (effect, counted) in effects(preview, mode) {
        lines.extend(count_line(effect, counted));
        if !std::ptr::eq(counted, &preview.equal) {
            lines.extend(example_lines(out, counted));
        }
    }
    lines.extend(place_lines(places, mode));
    if lines.is_empty() {
        lines.push("Both sides are empty.".to_owned());
    }
    lines.push(NOTHING_CHANGED.to_owned());
    lines
}

fn document(
    preview: &MergePreview,
    mode: SyncMode,
    local: &Path,
    remote: &str,
    places: &Places,
) -> Value {
    let nothing = FileCount::default();
    let (up, down) = match mode {
        SyncMode::TwoWay => (&preview.local, &preview.remote),
        SyncMode::Upload => (&preview.local, &nothing),
        SyncMode::Download => (&nothing, &preview.remote),
    };
    json!({
        "dry_run": true,
        "local": local,
        "remote": remote,
        "mode": mode,
        "existing": false,
        "upload": view(up),
        "download": view(down),
        "conflicts": view(&preview.different),
        "equal": view(&preview.equal),
        "skipped": view(&preview.skipped),
        "left_out": paths(&places.own),
        "mounts": paths(&places.mounts),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_preview_counts_and_names_some() {
        let preview = MergePreview {
            local: FileCount {
                files: 1_200,
                bytes: 3 << 20,
                examples: (0..10).map(|n| format!("f{n}")).collect(),
            },
            different: FileCount {
                files: 1,
                bytes: 5,
                examples: vec!["both".into()],
            },
            ..MergePreview::default()
        };
        let place = |path: &str| BTreeSet::from([RelPath::parse(path).unwrap()]);
        let places = Places {
            own: place("x/own"),
            mounts: place("photos"),
        };
        let out = Out::new(true);
        assert_eq!(
            lines(&out, &preview, SyncMode::TwoWay, &places),
            [
                "1,200 files (3.0 MiB) to upload",
                "  f0",
                "  f1",
                "  f2",
                "  f3",
                "  f4",
                "  … and 1,195 more files",
                "1 file (5 B) in two versions: both are kept, one as a conflict copy",
                "  both",
                "x/own is left out: Cairn keeps files of its own there",
                "photos is another file system: what is on it is uploaded, and what comes from the service can't be put there",
                "Nothing was changed.",
            ]
        );
        let sent = lines(&out, &preview, SyncMode::Upload, &places);
        assert!(!sent.iter().any(|line| line.contains("photos")), "{sent:?}");
        let received = lines(&out, &preview, SyncMode::Download, &places);
        assert!(
            received.contains(
                &"photos is another file system: what comes from the service can't be put there"
                    .to_owned()
            ),
            "{received:?}"
        );
        let document = document(&preview, SyncMode::Download, Path::new("/x"), "/", &places);
        assert_eq!(document["mounts"][0], "photos");
        assert_eq!(document["upload"]["files"], 0);
        assert_eq!(document["conflicts"]["examples"][0], "both");
    }
}
