//! The lines in which two texts differ.

use serde::Serialize;
use similar::{ChangeTag, DiffTag, TextDiff};
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
    /// The line's number in this device's version or the older one, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mine: Option<u32>,
    /// The line's number in the other one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub theirs: Option<u32>,
}

/// The lines in which two texts differ, whatever ends them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) lines: Vec<DiffLine>,
    /// True if there are more differing lines than `lines` has.
    pub(crate) cut: bool,
    /// True if equal lines end differently: LF, CR LF, or the end of the text.
    pub(crate) ends_differ: bool,
}

/// Compares two texts.
pub(crate) fn compare(mine: &str, theirs: &str) -> Comparison {
    let with_ends = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (mine, theirs) = (with_ends(mine), with_ends(theirs));
    let diff = TextDiff::configure()
        .timeout(DIFF_TIMEOUT)
        .diff_slices(&without_ends(&mine), &without_ends(&theirs));
    let ends_differ = diff.ops().iter().any(|op| {
        let equal = op.tag() == DiffTag::Equal;
        equal && mine[op.old_range()] != theirs[op.new_range()]
    });
    let mut lines = Vec::new();
    let mut cut = false;
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
            lines.push(DiffLine {
                kind: match change.tag() {
                    ChangeTag::Equal => LineKind::Same,
                    ChangeTag::Delete => LineKind::Mine,
                    ChangeTag::Insert => LineKind::Theirs,
                },
                text: change.value().to_owned(),
                mine: number(change.old_index()),
                theirs: number(change.new_index()),
            });
        }
    }
    if lines.len() > MAX_LINES {
        let differs = |line: &DiffLine| matches!(line.kind, LineKind::Mine | LineKind::Theirs);
        cut = lines[MAX_LINES..].iter().any(differs);
        lines.truncate(MAX_LINES);
    }
    Comparison {
        lines,
        cut,
        ends_differ,
    }
}

/// Returns the lines as a person sees them.
fn without_ends<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().map(|line| without_end(line)).collect()
}

fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn number(index: Option<usize>) -> Option<u32> {
    index.and_then(|index| u32::try_from(index + 1).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(comparison: &Comparison) -> Vec<LineKind> {
        comparison.lines.iter().map(|line| line.kind).collect()
    }

    #[test]
    fn lines_that_end_differently_are_equal_and_their_ends_differ() {
        for (mine, theirs) in [("a\r\nb\r\n", "a\nb\n"), ("a\nb", "a\nb\n")] {
            let compared = compare(mine, theirs);
            assert_eq!((compared.lines.len(), compared.ends_differ), (0, true));
        }
        let compared = compare("a\r\nb\r\n", "a\nc\n");
        let expected = [LineKind::Same, LineKind::Mine, LineKind::Theirs];
        assert_eq!(kinds(&compared), expected);
        assert_eq!(compared.lines[1].text, "b");
        assert!(compared.ends_differ);
        assert!(!compare("a\nb\n", "a\nc\n").ends_differ);
    }

    #[test]
    fn only_differences_that_are_left_out_count_as_cut() {
        let half = MAX_LINES / 2;
        let text = |line: &str, times: usize| format!("{}same\n", line.repeat(times));
        let full = compare(&text("a\n", half), &text("b\n", half));
        assert_eq!((full.lines.len(), full.cut), (MAX_LINES, false));
        let longer = compare(&text("a\n", half), &text("b\n", half + 1));
        assert_eq!((longer.lines.len(), longer.cut), (MAX_LINES, true));
    }
}
