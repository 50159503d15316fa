//! Lines on stdout: text for people, JSON for programs.

use anyhow::{Context as _, Result};
use cairn_model::size::binary;
use serde::Serialize;
use std::io::Write as _;

/// Prints a line.
pub(crate) fn print_line(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .context("can't write to stdout")
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    print_line(&serde_json::to_string_pretty(value)?)
}

/// Returns how much of a limit is used, such as `1.5 MiB of 5.0 GiB`.
pub(crate) fn used_of(used: u64, limit: u64) -> String {
    format!("{} of {}", binary(used), binary(limit))
}

/// Prints the properties of one thing, each in a line after its name.
pub(crate) fn properties(rows: &[(&str, String)]) -> Result<()> {
    rows.iter()
        .try_for_each(|(name, text)| print_line(&format!("{name:<15}{text}")))
}

/// Prints rows below their headings, in columns.
pub(crate) fn table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    let head: Vec<String> = headings.iter().map(|text| (*text).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column));
        widths.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let line: Vec<String> = cells
            .map(|(text, width)| format!("{text:<width$}"))
            .collect();
        print_line(line.join("  ").trim_end())?;
    }
    Ok(())
}
