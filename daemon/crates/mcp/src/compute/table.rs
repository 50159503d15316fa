//! Rows as a plain-text table.

use super::values::no_object;
use crate::arguments::Arguments;
use crate::error::{ToolError, ToolResult};
use serde_json::{Value, json};

/// The width at which a cell is cut, in characters.
const WIDEST: usize = 60;

pub(super) fn format_table(arguments: &Arguments, values: &[Value]) -> ToolResult<Value> {
    let mut rows = Vec::new();
    for (at, element) in values.iter().enumerate() {
        rows.push(element.as_object().ok_or_else(|| no_object(at, element))?);
    }
    let chosen = arguments.get("columns").and_then(Value::as_array);
    let columns: Vec<String> = match (chosen, rows.first()) {
        (Some(names), _) if !names.is_empty() => names
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        (_, Some(first)) => first.keys().cloned().collect(),
        (_, None) => {
            return Err(ToolError::argument(
                "values is empty: give columns to get a table without rows",
            ));
        }
    };
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|name| cell(name)).collect()];
    for row in &rows {
        let cells = columns.iter().map(|name| match row.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => cell(text),
            Some(other) => cell(&other.to_string()),
        });
        lines.push(cells.collect());
    }
    let table = draw_table(&lines);
    Ok(json!({
        "operation": "format_table",
        "result": table,
        "count": rows.len(),
        "columns": columns,
    }))
}

fn cell(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.chars().count() <= WIDEST {
        return line;
    }
    let cut: String = line.chars().take(WIDEST - 3).collect();
    format!("{cut}...")
}

fn draw_table(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            lines
                .iter()
                .filter_map(|line| line.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let rule: String = widths
        .iter()
        .map(|width| format!("+{}", "-".repeat(width + 2)))
        .chain(["+".to_owned()])
        .collect();
    let mut out = vec![rule.clone()];
    for (at, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).map(|(cell, width)| {
            let pad = width - cell.chars().count();
            format!("| {cell}{} ", " ".repeat(pad))
        });
        out.push(cells.chain(["|".to_owned()]).collect());
        if at == 0 {
            out.push(rule.clone());
        }
    }
    out.push(rule);
    out.join("\n")
}
