//! The versions of a file on the service: looked at, compared, saved, restored.

use super::context::{Commands, local_text};
use crate::conflict::MAX_TEXT;
use crate::line_diff::{DiffLine, compare as compare_lines};
use crate::picture;
use crate::program::{ProgramError, Run};
use serde::{Deserialize, Serialize};
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
    /// The address (`data:`) of the picture that it is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub picture: Option<String>,
    /// True if there is more than `text` has.
    pub cut: bool,
    /// False if none of the account's devices has sealed the version.
    pub verified: bool,
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
    /// True if equal lines end differently: LF, CR LF, or the end of the file.
    pub ends_differ: bool,
    /// False if none of the account's devices has sealed one of the two.
    pub verified: bool,
}

pub(super) async fn list(
    commands: &Commands,
    folder: String,
    path: String,
) -> Result<Vec<VersionView>, ProgramError> {
    #[derive(Deserialize)]
    struct Document {
        versions: Vec<Version>,
    }
    #[derive(Deserialize)]
    struct Version {
        id: String,
        number: u64,
        size: u64,
        created_at: String,
        uploaded_by: String,
        current: bool,
    }
    let file = local_text(&folder, &path)?;
    let run = Run::of(["versions", "--", &file]);
    let found: Document = commands.document(run).await?;
    let mut versions: Vec<_> = found
        .versions
        .into_iter()
        .map(|version| VersionView {
            revision: version.id,
            number: version.number,
            bytes: version.size,
            at: version.created_at,
            by: version.uploaded_by,
            current: version.current,
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
) -> Result<(), ProgramError> {
    let file = local_text(&folder, &path)?;
    let revision = format!("--restore={revision}");
    let run = Run::of(["versions", &revision, "--", &file]);
    commands.run(run).await
}

pub(super) async fn text(
    commands: &Commands,
    folder: String,
    path: String,
    revision: String,
) -> Result<VersionText, ProgramError> {
    let file = local_text(&folder, &path)?;
    Ok(beginning(content(commands, &file, &revision).await?))
}

pub(super) async fn compare(
    commands: &Commands,
    folder: String,
    path: String,
    older: String,
    newer: String,
) -> Result<VersionDiff, ProgramError> {
    let file = local_text(&folder, &path)?;
    let (older, newer) = tokio::try_join!(
        content(commands, &file, &older),
        content(commands, &file, &newer)
    )?;
    let verified = older.verified && newer.verified;
    let compared = older
        .text
        .zip(newer.text)
        .filter(|(older, newer)| older.len().max(newer.len()) as u64 <= MAX_TEXT)
        .map(|(older, newer)| compare_lines(&older, &newer));
    Ok(VersionDiff {
        cut: compared.as_ref().is_some_and(|found| found.cut),
        ends_differ: compared.as_ref().is_some_and(|found| found.ends_differ),
        lines: compared.map(|found| found.lines),
        verified,
    })
}

/// Saves a version where the person chooses, who has agreed there to replace what is in its place.
pub(super) async fn save(
    commands: &Commands,
    folder: String,
    path: String,
    revision: String,
) -> Result<bool, ProgramError> {
    let file = local_text(&folder, &path)?;
    let name = path.rsplit('/').next().unwrap_or(&path);
    let Some(target) = commands.desktop.pick_save(name).await else {
        return Ok(false);
    };
    // A path that is written otherwise would be another one.
    let target = target.to_str().ok_or_else(|| {
        ProgramError::failed("this folder's name is not valid UTF-8: choose another one")
    })?;
    let run = Run::of([
        "versions".to_owned(),
        format!("--download={revision}"),
        format!("--out={target}"),
        "--force".to_owned(),
        "--".to_owned(),
        file,
    ]);
    commands.run(run).await.map(|()| true)
}

/// The content of a version: text, or other bytes in base64.
#[derive(Deserialize)]
struct Content {
    text: Option<String>,
    #[serde(default)]
    base64: Option<String>,
    verified: bool,
}

async fn content(commands: &Commands, file: &str, revision: &str) -> Result<Content, ProgramError> {
    let revision = format!("--revision={revision}");
    let run = Run::of(["cat", &revision, "--", file]);
    let mut content: Content = commands.document(run).await?;
    content.text = content.text.filter(|text| !text.contains('\0'));
    Ok(content)
}

/// Returns as much of a text as a window shows, up to a whole character.
fn beginning(content: Content) -> VersionText {
    let most = usize::try_from(MAX_TEXT).unwrap_or(usize::MAX);
    let mut text = content.text;
    let mut cut = false;
    if let Some(text) = &mut text
        && text.len() > most
    {
        text.truncate(text.floor_char_boundary(most));
        cut = true;
    }
    VersionText {
        text,
        picture: content.base64.as_deref().and_then(picture::address),
        cut,
        verified: content.verified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let shown = |text: Option<&str>| {
            beginning(Content {
                text: text.map(str::to_owned),
                base64: None,
                verified: true,
            })
        };
        let short = shown(Some("é"));
        assert_eq!((short.text.as_deref(), short.cut), (Some("é"), false));
        let most = usize::try_from(MAX_TEXT).unwrap();
        let long = shown(Some(&format!("{}é", "a".repeat(most - 1))));
        assert_eq!((long.text.unwrap().len(), long.cut), (most - 1, true));
        assert_eq!(shown(None).text, None);
    }
}
