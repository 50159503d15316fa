//! `cairn resolve`: which version of a conflict keeps the name.

use crate::app::App;
use crate::cli::dry_run::{self, DryRun};
use crate::cli::enum_values::values;
use crate::failure::{CommandResult, Context as _};
use crate::local_path;
use crate::output::text::{clean, clean_line};
use cairn_control::{ConflictList, ResolvePreview, Resolved, typed};
use cairn_model::Keep;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Resolve a conflict; the version that is not kept goes to the local trash
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The file, or its conflict copy
    path: PathBuf,
    /// Version that stays
    #[arg(long, value_parser = values(Keep::ALL, Keep::as_str, help))]
    keep: Keep,
    #[command(flatten)]
    dry_run: DryRun,
}

fn help(keep: Keep) -> &'static str {
    match keep {
        Keep::Mine => "This device's version, where it is known which one that is",
        Keep::Theirs => "The other device's version",
        Keep::Copy => "The conflict copy takes the name",
        Keep::Original => "What has the name stays",
        Keep::Both => {
            "Both; the copy gets a plain name, on every device unless the folder only receives"
        }
        Keep::Merge => "One text with the changes of both",
    }
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let keep = args.keep;
    let daemon = app.daemon().await?;
    let list: ConflictList = daemon.send(typed::Conflicts {}).await?;
    let text = match in_a_folder(&list, &args.path) {
        Some(path) => path.display().to_string(),
        None => local_path::file(&args.path)?.display().to_string(),
    };
    if args.dry_run.is_wanted {
        let request = typed::PreviewResolve {
            path: text.clone(),
            keep,
        };
        let preview = daemon
            .send(request)
            .await
            .context(format_args!("resolve {text}"))?;
        return show(app, &text, keep, &preview);
    }
    let request = typed::Resolve {
        path: text.clone(),
        keep,
    };
    let Resolved { copy } = daemon
        .send(request)
        .await
        .context(format_args!("resolve {text}"))?;
    app.out.line(sentence(&text, copy.as_deref()));
    app.out
        .json(&json!({ "resolved": text, "keep": keep, "copy": copy }));
    Ok(())
}

/// Shows which conflict would be resolved, and how.
fn show(app: &App, text: &str, keep: Keep, preview: &ResolvePreview) -> CommandResult {
    let document = json!({
        "would_resolve": text,
        "copy": preview.copy,
        "keep": keep,
        "renamed_copy": preview.renamed_copy,
        "merged": preview.merged,
    });
    dry_run::show(app, preview_text(keep, preview), document)
}

/// Returns what resolving would do, in sentences; a merged text follows them.
fn preview_text(keep: Keep, preview: &ResolvePreview) -> String {
    let mut text = format!(
        "The conflict of {} with {} would be resolved. What would stay: {}.",
        clean(&preview.path),
        clean(&preview.copy),
        help(keep)
    );
    if let Some(renamed) = &preview.renamed_copy {
        text += &format!("\nThe copy would be {}.", clean(renamed));
    }
    if let Some(merged) = &preview.merged {
        let lines: Vec<_> = merged.lines().map(clean_line).collect();
        text += &format!("\nThe merged text:\n{}", lines.join("\n"));
    }
    text
}

/// Returns the sentence for a conflict that is resolved; `copy` is the new path of its copy.
fn sentence(path: &str, copy: Option<&str>) -> String {
    match copy {
        Some(copy) => format!("Both versions stay; the copy is now {copy}."),
        None => format!("The conflict of {path} is resolved."),
    }
}

/// The path as `cairn conflicts` shows it, below its folder, whatever the working directory is. Not
/// where two folders have a conflict of the same path, nor where the working directory has it too.
fn in_a_folder(list: &ConflictList, path: &Path) -> Option<PathBuf> {
    if path.is_absolute() || path.exists() {
        return None;
    }
    let mut named = list
        .conflicts
        .iter()
        .filter(|c| path == Path::new(&c.path) || path == Path::new(&c.copy))
        .map(|c| Path::new(&c.folder).join(path));
    let first = named.next()?;
    named.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::Conflict;

    fn conflict(folder: &str) -> Conflict {
        Conflict {
            path: "a/f".into(),
            original_gone: false,
            copy: "a/f (copy)".into(),
            folder: folder.into(),
            kind: cairn_model::ConflictKind::Edit,
            device: String::new(),
            copy_device: String::new(),
            copy_made_here: None,
            at: String::new(),
        }
    }

    #[test]
    fn the_new_name_of_a_copy_is_shown() {
        let shown = sentence("/x/f", Some("/x/f (laptop)"));
        assert_eq!(shown, "Both versions stay; the copy is now /x/f (laptop).");
        assert_eq!(sentence("/x/f", None), "The conflict of /x/f is resolved.");
    }

    #[test]
    fn a_preview_shows_the_merged_text_without_control_characters() {
        let preview = ResolvePreview {
            path: "f".into(),
            copy: "f (copy)".into(),
            merged: Some("one\n\u{1b}[2J\ttwo\n".into()),
            ..ResolvePreview::default()
        };
        let shown = preview_text(Keep::Merge, &preview);
        let (sentence, merged) = shown.split_once('\n').expect("two parts");
        assert!(sentence.contains("f with f (copy)"), "{sentence}");
        assert!(merged.ends_with("one\n\u{fffd}[2J\ttwo"), "{merged}");
    }

    #[test]
    fn a_path_as_it_was_listed_is_found_in_its_folder() {
        let list = ConflictList {
            conflicts: vec![conflict("/x")],
        };
        let found = in_a_folder(&list, Path::new("a/f (copy)"));
        assert_eq!(found, Some(PathBuf::from("/x/a/f (copy)")));
        assert_eq!(in_a_folder(&list, Path::new("a/g")), None);
        assert_eq!(in_a_folder(&list, Path::new("/x/a/f")), None);
        let two = ConflictList {
            conflicts: vec![conflict("/x"), conflict("/y")],
        };
        assert_eq!(in_a_folder(&two, Path::new("a/f")), None);
    }
}
