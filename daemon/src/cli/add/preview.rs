//! `cairn add --dry-run`: shows what the first merge of a pair would do.

use super::Args;
use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::folders::{pairs, spaces};
use crate::local_path;
use crate::output::Out;
use crate::output::text::{clean, count, size};
use crate::remote::{Remote, RemoteNode, Within};
use cairn_engine::{OWN_FILES, RuleMatch, Rules};
use cairn_index::FolderSettings;
use cairn_model::{Kind, RelPath, SyncMode};
use cairn_platform::{RealDisk, dirs};
use cairn_space::{FileCount, MergePreview, RemoteFolder};
use cairn_wire::nodes::Node;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The most paths of each kind that are printed.
const EXAMPLES: usize = 5;
/// A longer rules file is not read.
const MAX_RULES: u64 = 1024 * 1024;
/// The rules file at the root of a folder.
const IGNORE_FILE: &str = ".cairnignore";

pub(super) async fn run(app: &App, args: &Args) -> CommandResult {
    let local = local_path::file(&args.local)?;
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
    let path = crate::folders::remote_path(args.remote())?;
    let team = args.space.as_ref().map(|_| remote.space.keys().space());
    let all = spaces::open_all(&app.home)?;
    pairs::check_pairs(&all, team, &local, &path)?;
    drop(all);
    let folder = match remote.look_up(&path).await? {
        None => RemoteFolder::Absent,
        Some(RemoteNode::Top) => RemoteFolder::Root,
        Some(RemoteNode::Node(node)) if node.kind == Kind::Folder => RemoteFolder::Node(node.id),
        Some(RemoteNode::Node(_)) => {
            return Err(Failure::usage(format!(
                "{path} is a file on the service: name a folder"
            )));
        }
    };
    let rules = rules(&remote, args, &local, folder).await?;
    let rules = rules.with_own_places(&local, &app.home.own_places());
    let own = Mutex::default();
    let rules = Mutex::new(NestedRules {
        rules,
        read: BTreeSet::new(),
    });
    let left_out = |path: &RelPath, is_dir: bool| is_left_out(&rules, &local, path, is_dir, &own);
    let preview = remote.space.preview_merge(&local, folder, &left_out);
    let preview = preview.await.context("compare both sides")?;
    let mode = args.mode.unwrap_or_default();
    let own: Vec<String> = own.into_inner().iter().map(ToString::to_string).collect();
    for line in lines(&app.out, &preview, mode, &own) {
        app.out.line(line);
    }
    app.out.json(&document(&preview, mode, &local, &path, &own));
    Ok(())
}

/// The rules of a folder, to which those of its directories are added as they are come to.
struct NestedRules {
    rules: Rules,
    /// The directories above which all was read.
    read: BTreeSet<RelPath>,
}

impl NestedRules {
    fn check(&mut self, local: &Path, path: &RelPath, is_dir: bool) -> RuleMatch {
        if let Some(dir) = path.parent()
            && self.read.insert(dir)
        {
            self.rules.read_above(&RealDisk::new(), local, path);
        }
        self.rules.check(path, is_dir)
    }
}

/// Returns whether a path is not synced, and notes in `own` where an installation of Cairn keeps its files.
fn is_left_out(
    rules: &Mutex<NestedRules>,
    local: &Path,
    path: &RelPath,
    is_dir: bool,
    own: &Mutex<BTreeSet<RelPath>>,
) -> bool {
    let found = rules.lock().check(local, path, is_dir);
    let is_own = match found {
        RuleMatch::Ignored(rule) => rule == OWN_FILES,
        RuleMatch::Included(_) | RuleMatch::None => {
            if !is_dir || !dirs::is_marked(&path.to_path(local)) {
                return false;
            }
            true
        }
    };
    if is_own {
        own.lock().insert(path.clone());
    }
    true
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

fn lines(out: &Out, preview: &MergePreview, mode: SyncMode, own: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for (effect, counted) in effects(preview, mode) {
        if counted.files == 0 {
            continue;
        }
        let files = count(counted.files, "file");
        lines.push(format!("{files} ({}) {effect}", size(counted.bytes)));
        if std::ptr::eq(counted, &preview.equal) {
            continue;
        }
        for path in counted.examples.iter().take(EXAMPLES) {
            lines.push(out.paint(crate::output::Style::Dim, format!("  {}", clean(path))));
        }
        let more = counted.files.saturating_sub(EXAMPLES as u64);
        if more > 0 {
            lines.push(format!("  … and {}", count(more, "more file")));
        }
    }
    for path in own {
        lines.push(format!(
            "{} is left out: Cairn keeps files of its own there",
            clean(path)
        ));
    }
    if lines.is_empty() {
        lines.push("Both sides are empty.".to_owned());
    }
    lines.push("Nothing was changed.".to_owned());
    lines
}

fn document(
    preview: &MergePreview,
    mode: SyncMode,
    local: &Path,
    remote: &str,
    own: &[String],
) -> Value {
    let view = |counted: &FileCount| {
        json!({
            "files": counted.files,
            "bytes": counted.bytes,
            "examples": counted.examples,
        })
    };
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
        "upload": view(up),
        "download": view(down),
        "conflicts": view(&preview.different),
        "equal": view(&preview.equal),
        "skipped": view(&preview.skipped),
        "left_out": own,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let out = Out::new(true);
        assert_eq!(
            lines(&out, &preview, SyncMode::TwoWay, &["x/own".to_owned()]),
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
                "Nothing was changed.",
            ]
        );
        let document = document(&preview, SyncMode::Download, Path::new("/x"), "/", &[]);
        assert_eq!(document["upload"]["files"], 0);
        assert_eq!(document["conflicts"]["examples"][0], "both");
    }
}
