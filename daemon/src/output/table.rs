//! Columns that line up.

use crate::output::text::clean;
use crate::output::{Out, Style};

/// The edge of a column that its text is aligned with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    Left,
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
        let head: Vec<String> = self
            .head
            .iter()
            .map(|(title, _)| (*title).to_owned())
            .collect();
        let widths: Vec<usize> = (0..head.len())
            .map(|i| {
                self.rows
                    .iter()
                    .chain([&head])
                    .map(|row| width(&row[i]))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        out.line(out.paint(Style::Bold, self.format(&head, &widths)));
        for row in &self.rows {
            out.line(self.format(row, &widths));
        }
    }

    fn format(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, (_, align)), wide) in row.iter().zip(&self.head).zip(widths) {
            let pad = " ".repeat(wide - width(cell));
            match align {
                Align::Left => line.push_str(&format!("{cell}{pad}  ")),
                Align::Right => line.push_str(&format!("{pad}{cell}  ")),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_names_are_cleaned() {
        let mut table = Table::new(&[("NAME", Align::Left), ("SIZE", Align::Right)]);
        table.row(["é\n".into(), "1".into()]);
        table.row(["long name".into(), "100".into()]);
        let widths = [9, 4];
        assert_eq!(
            table.format(&table.rows[0], &widths),
            "é\u{fffd}            1"
        );
        assert_eq!(table.format(&table.rows[1], &widths), "long name   100");
    }
}
