//! The lines in which two texts differ.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;
use ts_rs::TS;

/// The number of equal lines shown around a difference.
const CONTEXT: usize = 3;
/// The most lines of a comparison.
pub(crate) const MAX_LINES: usize = 2_000;
/// The time after which the comparison stops looking for the shortest difference.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);

/// The kind of a line in the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    Same,
    /// Only in this device's version, or in the older one.
    Mine,
    /// Only in the other one, or in the newer one.
    Theirs,
    /// Equal lines that are left out.
    Gap,
}

/// One line of the comparison.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, TS)]
pub struct DiffLine {
    pub kind: LineKind,
    pub text: String,
    /// Its number in this device's version or the older one, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mine: Option<u32>,
    /// Its number in the other one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub theirs: Option<u32>,
}

/// Compares two texts. Returns the lines, and true if there are more differing ones than they have.
pub(crate) fn compare(mine: &str, theirs: &str) -> (Vec<DiffLine>, bool) {
    let diff = TextDiff::configure()
        .timeout(DIFF_TIMEOUT)
        .diff_lines(mine, theirs);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        if !lines.is_empty() {
            lines.push(DiffLine {
                kind: LineKind::Gap,
                text: String::new(),
                mine: None,
                theirs: None,
            });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if lines.len() >= MAX_LINES {
                return (lines, true);
            }
            lines.push(DiffLine {
                kind: match change.tag() {
                    ChangeTag::Equal => LineKind::Same,
                    ChangeTag::Delete => LineKind::Mine,
                    ChangeTag::Insert => LineKind::Theirs,
                },
                text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
                mine: number(change.old_index()),
                theirs: number(change.new_index()),
            });
        }
    }
    (lines, false)
}

fn number(index: Option<usize>) -> Option<u32> {
    index.and_then(|index| u32::try_from(index + 1).ok())
}
