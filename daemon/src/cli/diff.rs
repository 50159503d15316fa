//! `cairn diff`: how two versions of a text file differ.

use crate::app::App;
use crate::failure::{CommandResult, Context as _, Failure};
use crate::local_path;
use crate::output::Style;
use crate::output::text::{clean, clean_line, size};
use crate::remote::verification;
use crate::remote::versions::find_version;
use crate::remote::{Remote, Within};
use cairn_wire::nodes::{Node, Revision};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Longer files are not compared line by line.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Show how two versions of a text file differ
///
/// With a file of this machine: the newest version on the service against it. Else, or with A alone: an
/// earlier version (the one before the newest, if none is given) against the newest.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, one in a synced folder, or an id
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    path: String,
    /// The older version: its number, or the beginning of its id (see `cairn versions`)
    #[arg(value_name = "A")]
    from: Option<String>,
    /// The newer version
    #[arg(value_name = "B")]
    to: Option<String>,
    #[command(flatten)]
    within: Within,
}

/// One side of the comparison.
struct Side {
    /// The name that a person gives it.
    label: String,
    view: Value,
    bytes: u64,
    content: Content,
}

enum Content {
    Text(String),
    Binary(Vec<u8>),
    TooLong,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.path).await?;
    let node = remote.find(&args.path).await?.node()?;
    let revisions = remote.revisions(&node, &args.path).await?;
    let unverified = remote.space.unverified_path(&node).await?;
    verification::check(app, &unverified)?;
    let (from, to) = sides(&remote, &args, &node, &revisions).await?;
    verification::note(app, &unverified);
    report(app, &args.path, &from, &to);
    Ok(())
}

/// Reads the two sides that the arguments mean.
async fn sides(
    remote: &Remote,
    args: &Args,
    node: &Node,
    revisions: &[Revision],
) -> CommandResult<(Side, Side)> {
    let named = |version: &String| find_version(revisions, &args.path, version);
    let newest = revisions.iter().find(|revision| revision.current);
    let newest = newest.ok_or_else(|| Failure::failed(format!("{} has no versions", args.path)))?;
    let local = local_file(&args.path)?;
    let from = match (&args.from, &local) {
        (Some(version), _) => named(version)?,
        (None, Some(_)) => newest,
        (None, None) => version_before(revisions, newest).ok_or_else(|| {
            Failure::failed(format!(
                "{} has one version only: there is nothing to compare it with",
                args.path
            ))
        })?,
    };
    let from = of_revision(remote, node, from).await?;
    let to = match (&args.to, local) {
        (Some(version), _) => of_revision(remote, node, named(version)?).await?,
        (None, Some(path)) => of_disk(&path)?,
        (None, None) => of_revision(remote, node, newest).await?,
    };
    Ok((from, to))
}

/// The version before another.
fn version_before<'a>(revisions: &'a [Revision], newest: &Revision) -> Option<&'a Revision> {
    let earlier = revisions.iter().filter(|one| one.number < newest.number);
    earlier.max_by_key(|one| one.number)
}

/// The file on this machine that the text names, if it is one.
fn local_file(text: &str) -> CommandResult<Option<PathBuf>> {
    let path = Path::new(text);
    if !path.is_file() {
        return Ok(None);
    }
    local_path::file(path).map(Some)
}

async fn of_revision(remote: &Remote, node: &Node, revision: &Revision) -> CommandResult<Side> {
    let content = if revision.size > MAX_BYTES {
        Content::TooLong
    } else {
        text(remote.read(node, Some(revision.id)).await?)
    };
    Ok(Side {
        label: format!("{} (version {})", node.name, revision.number),
        view: json!({ "version": revision.number, "revision_id": revision.id, "bytes": revision.size }),
        bytes: revision.size,
        content,
    })
}

fn of_disk(path: &Path) -> CommandResult<Side> {
    let read = || -> std::io::Result<(u64, Vec<u8>)> {
        let file = std::fs::File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut content = Vec::new();
        if bytes <= MAX_BYTES {
            file.take(MAX_BYTES + 1).read_to_end(&mut content)?;
        }
        Ok((bytes, content))
    };
    let (bytes, content) = read().context(format_args!("read {}", path.display()))?;
    Ok(Side {
        label: path.display().to_string(),
        view: json!({ "local": path, "bytes": bytes }),
        bytes,
        content: if bytes.max(content.len() as u64) > MAX_BYTES {
            Content::TooLong
        } else {
            text(content)
        },
    })
}

/// Text is what is valid UTF-8 without a zero byte.
fn text(bytes: Vec<u8>) -> Content {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Content::Text(text),
        Ok(text) => Content::Binary(text.into_bytes()),
        Err(error) => Content::Binary(error.into_bytes()),
    }
}

fn report(app: &App, path: &str, from: &Side, to: &Side) {
    let mut document = json!({
        "path": path,
        "from": from.view,
        "to": to.view,
        "text": false,
        "equal": equality(from, to),
        "diff": null,
    });
    let sides = format!(
        "{} ({}) and {} ({})",
        clean(&from.label),
        size(from.bytes),
        clean(&to.label),
        size(to.bytes)
    );
    match (&from.content, &to.content) {
        (Content::Text(old), Content::Text(new)) => {
            let diff = unified_patch(from, old, to, new);
            if old == new {
                app.out.line(format_args!("{sides} are equal."));
            }
            for line in diff.lines() {
                let line = clean_line(line);
                app.out.line(match line.chars().next() {
                    Some('+') => app.out.paint(Style::Good, line),
                    Some('-') => app.out.paint(Style::Bad, line),
                    _ => line,
                });
            }
            document["text"] = json!(true);
            document["diff"] = json!(diff);
        }
        (Content::Binary(_), _) | (_, Content::Binary(_)) => app.out.line(format_args!(
            "{sides} are not both text: only text is compared line by line."
        )),
        (Content::TooLong, _) | (_, Content::TooLong) => app.out.line(format_args!(
            "{sides}: files of more than {} are not compared line by line.",
            size(MAX_BYTES)
        )),
    }
    app.out.json(&document);
}

/// Returns whether both sides are equal; none where that was not looked at.
fn equality(from: &Side, to: &Side) -> Option<bool> {
    match (&from.content, &to.content) {
        (Content::Text(old), Content::Text(new)) => Some(old == new),
        (Content::Binary(old), Content::Binary(new)) => Some(old == new),
        (Content::Text(_), Content::Binary(_)) | (Content::Binary(_), Content::Text(_)) => {
            Some(false)
        }
        (Content::TooLong, _) | (_, Content::TooLong) => (from.bytes != to.bytes).then_some(false),
    }
}

/// The difference as a patch; empty for equal texts.
fn unified_patch(from: &Side, old: &str, to: &Side, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let mut options = diffy::DiffOptions::new();
    options
        .set_original_filename(from.label.clone())
        .set_modified_filename(to.label.clone());
    options.create_patch(old, new).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_text_is_compared() {
        assert!(matches!(text(b"a\nb".to_vec()), Content::Text(_)));
        assert!(matches!(text(b"a\0b".to_vec()), Content::Binary(_)));
        assert!(matches!(text(vec![0xff, 0xfe]), Content::Binary(_)));
    }

    #[test]
    fn files_without_text_are_compared_as_a_whole() {
        let side = |bytes: &[u8]| Side {
            label: String::new(),
            view: Value::Null,
            bytes: bytes.len() as u64,
            content: text(bytes.to_vec()),
        };
        let long = |bytes| Side {
            bytes,
            content: Content::TooLong,
            ..side(b"")
        };
        assert_eq!(equality(&side(b"\0a"), &side(b"\0a")), Some(true));
        assert_eq!(equality(&side(b"\0a"), &side(b"\0b")), Some(false));
        assert_eq!(equality(&side(b"a"), &side(b"\0a")), Some(false));
        assert_eq!(equality(&long(9), &long(8)), Some(false));
        assert_eq!(equality(&long(9), &long(9)), None);
    }
}
