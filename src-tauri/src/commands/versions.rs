//! The versions of a file on the service: looked at, compared, saved, restored.

use super::context::{Commands, local_text};
use crate::conflict::MAX_TEXT;
use crate::line_diff::{DiffLine, compare as compare_lines};
use crate::program::{Fault, Run};
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

/// One version of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VersionView {
    pub revision: String,
    pub number: u64,
    pub bytes: u64,
    /// RFC 3339 in UTC.
    pub at: String,
    pub by: String,
    pub current: bool,
}

/// The beginning of a version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VersionText {
    /// Absent if it isn't text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
    /// True if there is more than `text` has.
    pub cut: bool,
}

/// The lines in which two versions differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct VersionDiff {
    /// Absent if one of them isn't text, or is too big.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub lines: Option<Vec<DiffLine>>,
    /// True if there are more differing lines than `lines` has.
    pub cut: bool,
}

pub(super) async fn list(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<Vec<VersionView>, Fault> {
    let file = local_text(&folder, &path)?;
    let document = commands.run(Run::of(["versions", "--", &file])).await?;
    let versions = document["versions"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut versions: Vec<_> = versions
        .iter()
        .map(|version| VersionView {
            revision: text(&version["id"]),
            number: version["number"].as_u64().unwrap_or(0),
            bytes: version["size"].as_u64().unwrap_or(0),
            at: text(&version["created_at"]),
            by: text(&version["uploaded_by"]),
            current: version["current"].as_bool().unwrap_or(false),
        })
        .collect();
    versions.sort_by_key(|version| std::cmp::Reverse(version.number));
    Ok(versions)
}

pub(super) async fn restore(
    commands: &Commands,
    folder: String,
    path: String,
    revision: String,
) -> Result<(), Fault> {
    let file = local_text(&folder, &path)?;
    let run = Run::of(["versions", "--restore", &revision, "--", &file]);
    commands.run(run).await.map(drop)
}

pub(super) async fn text(
    commands: &Commands,
    folder: String,
    path: String,
    revision: String,
) -> Result<VersionText, Fault> {
    let file = local_text(&folder, &path)?;
    let text = content(commands, &file, &revision).await?;
    Ok(beginning(text))
}

pub(super) async fn compare(
    commands: &Commands,
    folder: String,
    path: String,
    older: String,
    newer: String,
) -> Result<VersionDiff, Fault> {
    let file = local_text(&folder, &path)?;
    let (older, newer) = tokio::try_join!(
        content(commands, &file, &older),
        content(commands, &file, &newer)
    )?;
    let compared = older
        .zip(newer)
        .filter(|(older, newer)| older.len().max(newer.len()) as u64 <= MAX_TEXT)
        .map(|(older, newer)| compare_lines(&older, &newer));
    let cut = compared.as_ref().is_some_and(|(_, cut)| *cut);
    Ok(VersionDiff {
        lines: compared.map(|(lines, _)| lines),
        cut,
    })
}

/// Saves a version where the person chooses, who has agreed there to replace what is in its place.
pub(super) async fn save(
    commands: &Commands,
    folder: String,
    path: String,
    revision: String,
) -> Result<bool, Fault> {
    let file = local_text(&folder, &path)?;
    let name = path.rsplit('/').next().unwrap_or(&path);
    let Some(target) = commands.desktop.pick_save(name).await else {
        return Ok(false);
    };
    let run = Run::of([
        "versions".to_owned(),
        format!("--download={revision}"),
        format!("--out={}", target.display()),
        "--force".to_owned(),
        "--".to_owned(),
        file,
    ]);
    commands.run(run).await.map(|_| true)
}

/// Returns the content of a version if it is text.
async fn content(commands: &Commands, file: &str, revision: &str) -> Result<Option<String>, Fault> {
    let revision = format!("--revision={revision}");
    let document = commands
        .run(Run::of(["cat", &revision, "--", file]))
        .await?;
    let text = document["text"]
        .as_str()
        .filter(|text| !text.contains('\0'));
    Ok(text.map(str::to_owned))
}

/// Returns as much of a text as a window shows, up to a whole character.
fn beginning(text: Option<String>) -> VersionText {
    let Some(mut text) = text else {
        return VersionText {
            text: None,
            cut: false,
        };
    };
    let most = usize::try_from(MAX_TEXT).unwrap_or(usize::MAX);
    let cut = text.len() > most;
    if cut {
        text.truncate(text.floor_char_boundary(most));
    }
    VersionText {
        text: Some(text),
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let short = beginning(Some("é".into()));
        assert_eq!((short.text.as_deref(), short.cut), (Some("é"), false));
        let most = usize::try_from(MAX_TEXT).unwrap();
        let long = beginning(Some(format!("{}é", "a".repeat(most - 1))));
        assert_eq!((long.text.unwrap().len(), long.cut), (most - 1, true));
        assert_eq!(beginning(None).text, None);
    }
}
