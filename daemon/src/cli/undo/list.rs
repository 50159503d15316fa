//! `cairn undo --list`: the commands and assistants' sessions that can be taken back.

use super::assistants;
use crate::app::App;
use crate::output::table::{Align, Table};
use crate::output::text::{local_time, rfc3339};
use crate::remote::journal::Entry;
use serde_json::{Value, json};

/// A row of the table and its document, with the time by which they are sorted.
type Row = (i64, [String; 4], Value);

pub(super) async fn print(app: &App, commands: &[Vec<Entry>]) {
    let mut rows: Vec<Row> = commands
        .iter()
        .filter_map(|session| row_of_command(app, session))
        .collect();
    match assistants::sessions(app).await {
        Ok(sessions) => rows.extend(sessions.iter().map(|session| session.row(app))),
        Err(failure) => app.out.note(format_args!(
            "What assistants did can't be listed now: {}",
            failure.message
        )),
    }
    rows.sort_by_key(|(at_ms, _, _)| std::cmp::Reverse(*at_ms));
    let mut table = Table::new(&[
        ("WHEN", Align::Left),
        ("COMMAND", Align::Name),
        ("CHANGES", Align::Right),
        ("SESSION", Align::Left),
    ]);
    let mut documents = Vec::new();
    for (_, cells, document) in rows {
        table.row(cells);
        documents.push(document);
    }
    table.print(
        &app.out,
        "No command on this device, and no assistant, has changed anything.",
    );
    app.out.json(&json!({ "sessions": documents }));
}

fn row_of_command(app: &App, session: &[Entry]) -> Option<Row> {
    let first = session.first()?;
    let cells = [
        local_time(first.at_ms, &app.zone),
        format!("cairn {}", first.command),
        session.len().to_string(),
        first.session.to_string(),
    ];
    let document = json!({
        "session": first.session,
        "by": "command",
        "at": rfc3339(first.at_ms),
        "command": first.command,
        "team": first.team,
        "changes": session.len(),
    });
    Some((first.at_ms, cells, document))
}
