//! Counted files, for people and for programs.

use crate::output::text::{clean, count, size};
use crate::output::{Out, Style};
use cairn_space::FileCount;
use serde_json::{Value, json};

/// The most paths of each kind that are printed.
const EXAMPLES: usize = 5;
/// The end of every preview.
pub(super) const NOTHING_CHANGED: &str = "Nothing was changed.";

/// Returns how many files an effect is on, if it is on any.
pub(super) fn count_line(effect: &str, counted: &FileCount) -> Option<String> {
    let files = count(counted.files, "file");
    (counted.files > 0).then(|| format!("{files} ({}) {effect}", size(counted.bytes)))
}

/// Returns the names of some files, and how many more there are.
pub(super) fn example_lines(out: &Out, counted: &FileCount) -> Vec<String> {
    let mut lines = Vec::new();
    for path in counted.examples.iter().take(EXAMPLES) {
        lines.push(out.paint(Style::Dim, format!("  {}", clean(path))));
    }
    let more = counted.files.saturating_sub(EXAMPLES as u64);
    if more > 0 {
        lines.push(format!("  … and {}", count(more, "more file")));
    }
    lines
}

pub(super) fn view(counted: &FileCount) -> Value {
    json!({
        "files": counted.files,
        "bytes": counted.bytes,
        "examples": counted.examples,
    })
}
