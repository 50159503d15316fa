//! Columns that line up.

use crate::output::text::clean;
use crate::output::{Out, Style};
use console::measure_text_width as width;

/// The least width that a column is shortened to.
const MIN_WIDTH: usize = 12;

/// The edge of a column that its text is aligned with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    Left,
    /// The same for names and paths, which are shortened in the middle where the terminal is too narrow.
    Name,
    Right,
}

/// A table with a heading. Cells are cleaned of control characters.
pub(crate) struct Table {
    head: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[(&'static str, Align)]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows
            .push(cells.into_iter().map(|cell| clean(&cell)).collect());
    }

    /// Prints it, or the given text if it has no rows.
    pub(crate) fn print(&self, out: &Out, if_empty: &str) {
        if self.rows.is_empty() {
            out.line(if_empty);
            return;
        }
        for (at, line) in self.lines(out.columns).into_iter().enumerate() {
            match at {
                0 => out.line(out.paint(Style::Bold, line)),
                _ => out.line(line),
            }
        }
    }

    /// Returns the heading and the rows, for a terminal of so many columns, or for whoever else reads them.
    fn lines(&self, columns: Option<usize>) -> Vec<String> {
        let head = self.head.iter().map(|(title, _)| (*title).to_owned());
        let head: Vec<String> = head.collect();
        let all = || std::iter::once(&head).chain(&self.rows);
        let widest = |at: usize| all().map(|row| width(&row[at])).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..head.len()).map(widest).collect();
        if let Some(columns) = columns {
            self.fit(&mut widths, columns);
        }
        all().map(|row| self.format(row, &widths)).collect()
    }

    /// Makes columns of names as narrow as the terminal needs it, the widest one first.
    fn fit(&self, widths: &mut [usize], columns: usize) {
        let gaps = 2 * widths.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
        let names = self.head.iter().zip(widths);
        let names = names.filter(|((_, align), wide)| *align == Align::Name && **wide > MIN_WIDTH);
        let mut names: Vec<&mut usize> = names.map(|(_, wide)| wide).collect();
        while excess > 0
            && let Some(widest) = names.iter_mut().max_by_key(|wide| ***wide)
            && **widest > MIN_WIDTH
        {
            **widest -= 1;
            excess -= 1;
        }
    }

    fn format(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, (_, align)), wide) in row.iter().zip(&self.head).zip(widths) {
            let cell = shorten(cell, *wide);
            let pad = " ".repeat(wide.saturating_sub(width(&cell)));
            match align {
                Align::Left | Align::Name => line.push_str(&format!("{cell}{pad}  ")),
                Align::Right => line.push_str(&format!("{pad}{cell}  ")),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Returns a text that is no wider than that, with `…` in place of its middle if it has to be cut: names differ at
/// their ends.
fn shorten(text: &str, wide: usize) -> String {
    if width(text) <= wide {
        return text.to_owned();
    }
    let left = wide.saturating_sub(1);
    let begin = prefix(text.chars(), left.div_ceil(2));
    let end = prefix(text.chars().rev(), left / 2);
    // No accent without its letter.
    let end: String = end.chars().rev().skip_while(|c| is_flat(*c)).collect();
    format!("{begin}…{end}")
}

/// Returns the first characters that are no wider than that.
fn prefix(chars: impl Iterator<Item = char>, wide: usize) -> String {
    let mut text = String::new();
    for c in chars {
        text.push(c);
        if width(&text) > wide {
            text.pop();
            break;
        }
    }
    text
}

fn is_flat(c: char) -> bool {
    width(c.encode_utf8(&mut [0; 4])) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_names_are_cleaned() {
        let mut table = Table::new(&[("NAME", Align::Left), ("SIZE", Align::Right)]);
        table.row(["é\n".into(), "1".into()]);
        table.row(["long name".into(), "100".into()]);
        let lines = table.lines(None);
        assert_eq!(lines[1], "é\u{fffd}            1");
        assert_eq!(lines[2], "long name   100");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(&[("NAME", Align::Name), ("SIZE", Align::Right)]);
        table.row(["写真".into(), "1".into()]);
        table.row(["🎉.txt".into(), "22".into()]);
        table.row(["e\u{301}te\u{301}".into(), "3".into()]);
        assert_eq!(
            table.lines(None)[1..],
            ["写真       1", "🎉.txt    22", "e\u{301}te\u{301}        3"]
        );
    }

    #[test]
    fn names_are_shortened_to_the_terminal_and_nothing_else_is() {
        let mut table = Table::new(&[("ID", Align::Left), ("NAME", Align::Name)]);
        let id = "0190aaaa-0000";
        let name = format!("photos/{}/last.jpg", "x".repeat(200));
        table.row([id.into(), name.clone()]);
        table.row([id.into(), "写".repeat(200)]);
        assert!(table.lines(None)[1].ends_with(&name));
        let lines = table.lines(Some(40));
        assert_eq!(lines[1], format!("{id}  photos/xxxxx…xxx/last.jpg"));
        assert_eq!(lines[2], format!("{id}  写写写写写写…写写写写写写"));
        assert!(lines.iter().all(|line| width(line) <= 40), "{lines:?}");
        // No terminal is too narrow to say something.
        assert_eq!(width(&table.lines(Some(1))[1]), id.len() + 2 + MIN_WIDTH);
    }

    #[test]
    fn the_widest_names_give_way_first() {
        let mut table = Table::new(&[("NAME", Align::Name), ("FOLDER", Align::Name)]);
        table.row(["n".repeat(100), "folder-of-20-letters".into()]);
        let lines = table.lines(Some(60));
        assert!(lines[1].ends_with("folder-of-20-letters"), "{lines:?}");
        assert_eq!(width(&lines[1]), 60);
    }

    #[test]
    fn no_accent_is_left_without_its_letter() {
        assert_eq!(shorten("aaaaaae\u{301}bb", 7), "aaa…e\u{301}bb");
        assert_eq!(shorten("aaaaaae\u{301}bb", 5), "aa…bb");
    }
}
