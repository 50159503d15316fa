//! Reports about people: made by users, read and answered by administrators.

use super::other_display_name;
use crate::admin_events::Administrator;
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::page::read_page;
use crate::rows::{fresh_id, id, name_of, word};
use crate::state::Store;
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::admin::{AdminAction, AnswerReport, ReportDecision, ReportOverview};
use cairn_wire::notifications::NotificationKind;
use cairn_wire::social::{Report, ReportState, ReportUser};
use serde_json::json;
use uuid::Uuid;

const OVERVIEW: &str = "SELECT r.id, r.reporter, a.email, r.reported, b.email, r.reason, r.details, r.state, \
     r.created_at, r.answer, r.answered_at FROM reports r LEFT JOIN accounts a ON a.id = r.reporter \
     JOIN accounts b ON b.id = r.reported";

fn overview(row: &Row<'_>) -> db::Result<ReportOverview> {
    Ok(ReportOverview {
        id: id(row, 0)?,
        reporter: id(row, 1)?,
        reporter_email: row.get(2)?,
        user_id: id(row, 3)?,
        email: row.get(4)?,
        reason: word(row, 5)?,
        details: row.get(6)?,
        status: word(row, 7)?,
        created_at: Timestamp(row.get(8)?),
        answer: row.get(9)?,
        answered_at: row.get::<Option<i64>>(10)?.map(Timestamp),
    })
}

fn find(conn: &Connection, report: Uuid) -> Result<ReportOverview> {
    conn.prepare_cached(&format!("{OVERVIEW} WHERE r.id = ?1"))?
        .query_row([report.as_bytes()], overview)
        .optional()?
        .ok_or_else(|| Error::not_found(format!("there is no report {report}")))
}

/// Returns the sentence that the one who made a report reads.
fn notice(decision: ReportDecision, answer: &str) -> String {
    let what = match decision {
        ReportDecision::ActionTaken => "Something was done about your report",
        ReportDecision::Dismissed => "Your report was looked at; nothing will be done about it",
    };
    if answer.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {answer}")
    }
}

impl Store {
    /// Hands a report to moderation; the reported learns nothing of it.
    ///
    /// # Errors
    /// 404, 400 for oneself.
    pub fn report(&self, me: AccountId, report: &ReportUser) -> Result<Report> {
        self.write(|tx| {
            other_display_name(tx.conn, me, report.user_id)?;
            let made = Report {
                id: fresh_id(tx.source),
                user_id: report.user_id,
                reason: report.reason,
                status: ReportState::Received,
                created_at: Timestamp(tx.now),
            };
            tx.conn.execute(
                "INSERT INTO reports (id, reporter, reported, reason, details, state, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    made.id.as_bytes(),
                    me.as_bytes(),
                    made.user_id.as_bytes(),
                    name_of(&made.reason),
                    report.details.as_deref().unwrap_or_default(),
                    name_of(&made.status),
                    tx.now
                ],
            )?;
            Ok(made)
        })
    }

    /// One page of all reports, latest first, or of those that nobody has answered; and their number.
    pub fn reports_page(
        &self,
        only_open: bool,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<ReportOverview>, u64)> {
        let filter = if only_open {
            "WHERE r.answered_at IS NULL"
        } else {
            ""
        };
        self.read(|conn| {
            let count = format!("SELECT count(*) FROM reports r {filter}");
            let list =
                format!("{OVERVIEW} {filter} ORDER BY r.created_at DESC, r.id LIMIT ?2 OFFSET ?1");
            read_page(conn, (&count, &list), &[], (skip, take), overview)
        })
    }

    /// Records the answer to a report: the one who made it gets a notification, the log of administrators an entry.
    /// A later answer takes the place of an earlier one.
    ///
    /// # Errors
    /// 404.
    pub fn answer_report(
        &self,
        by: Administrator,
        report: Uuid,
        answer: &AnswerReport,
    ) -> Result<ReportOverview> {
        let text = answer.answer.as_deref().unwrap_or_default();
        self.write(|tx| {
            let found = find(tx.conn, report)?;
            tx.conn
                .prepare_cached(
                    "UPDATE reports SET state = ?2, answer = ?3, answered_at = ?4 WHERE id = ?1",
                )?
                .execute(params![
                    report.as_bytes(),
                    name_of(&answer.status),
                    text,
                    tx.now
                ])?;
            let title = notice(answer.status, text);
            let data = json!({ "report_id": report, "status": answer.status });
            tx.notify(found.reporter, NotificationKind::System, &title, &data)?;
            let data = json!({ "report": report, "status": answer.status });
            tx.note_admin_action(by, AdminAction::ReportAnswered, found.user_id, &data)?;
            find(tx.conn, report)
        })
    }
}
