//! Lines on stdout: text for people, JSON for programs.

use anyhow::{Context as _, Result};
use cairn_model::size::binary;
use serde::Serialize;
use std::io::{self, Write as _};

/// Prints a line. A reader that has seen enough, such as `head`, is no failure.
pub(crate) fn print_line(line: &str) -> Result<()> {
    match write_line(line) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context(LOST),
    }
}

/// Prints a line that can't be shown again, such as a new key: here a reader that is gone is a failure, too.
pub(crate) fn print_line_once(line: &str) -> Result<()> {
    write_line(line).context(LOST)
}

/// Prints a value as JSON, as [`print_line`] does.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    print_line(&serde_json::to_string_pretty(value)?)
}

/// Prints a value as JSON, as [`print_line_once`] does.
pub(crate) fn json_once(value: &impl Serialize) -> Result<()> {
    print_line_once(&serde_json::to_string_pretty(value)?)
}

const LOST: &str = "can't write to stdout";

fn write_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush())
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
