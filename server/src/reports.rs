//! The commands about reports that users made about others.

use crate::cli::{DataOptions, Decision, Reports};
use crate::output::{json, print_line, table};
use anyhow::Result;
use cairn_server::{AnswerReport, ReportDecision, ReportOverview};

/// Runs a command about reports.
pub(crate) fn reports(command: Reports) -> Result<()> {
    match command {
        Reports::List { all, options } => list(&options, all),
        Reports::Answer {
            id,
            status,
            text,
            options,
        } => {
            let answer = AnswerReport {
                status: match status {
                    Decision::ActionTaken => ReportDecision::ActionTaken,
                    Decision::Dismissed => ReportDecision::Dismissed,
                },
                answer: Some(text),
            };
            let report = options.existing_server()?.answer_report(id, &answer)?;
            if options.json {
                return json(&report);
            }
            print_line(&format!("the report about {} is answered", report.email))
        }
    }
}

fn list(options: &DataOptions, all: bool) -> Result<()> {
    let reports = options.existing_server()?.reports(!all)?;
    if options.json {
        return json(&reports);
    }
    if reports.is_empty() {
        return print_line("no reports");
    }
    let rows = reports.iter().map(row);
    let headings = [
        "ID", "CREATED", "ABOUT", "BY", "REASON", "STATUS", "DETAILS",
    ];
    table(&headings, rows)
}

fn row(report: &ReportOverview) -> Vec<String> {
    let one_line = report.details.split_whitespace().collect::<Vec<_>>();
    vec![
        report.id.to_string(),
        report.created_at.to_string(),
        report.email.clone(),
        report.reporter_email.clone().unwrap_or_default(),
        word(&report.reason),
        word(&report.status),
        one_line.join(" "),
    ]
}

/// Returns the name of a value as REST has it.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
