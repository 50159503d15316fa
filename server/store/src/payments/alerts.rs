//! A monthly budget, and the alert when most of it is spent.

use super::email;
use super::ledger::cents_spent_since;
use crate::catalog;
use crate::db::{Connection, Optional as _, params};
use crate::error::Result;
use crate::usage::month;
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::payments::{SetSpendingAlerts, SpendingAlerts};
use cairn_wire::{Amount, Percent, Timestamp};
use serde_json::json;

/// The part of a budget that raises its alert, until somebody chooses another one.
const THRESHOLD: Percent = Percent(8_000);

/// The first instant of the calendar month, UTC.
fn month_start(now: i64) -> i64 {
    Timestamp::parse(&format!("{}-01T00:00:00Z", month(now))).map_or(0, |at| at.0)
}

fn alerts(conn: &Connection, account: AccountId, now: i64) -> Result<SpendingAlerts> {
    let chosen: Option<(Option<i64>, i64, bool)> = conn
        .query_row(
            "SELECT monthly_budget, threshold, email_enabled FROM spending_alerts WHERE account = ?1",
            [account.as_bytes()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let (budget, threshold, email) = chosen.unwrap_or((None, THRESHOLD.0, true));
    Ok(SpendingAlerts {
        monthly_budget: budget.map(Amount),
        alert_threshold_percent: Percent(threshold),
        email_alerts_enabled: email,
        spent_this_month: Amount(cents_spent_since(conn, account, month_start(now))?),
        currency: catalog::CURRENCY.to_owned(),
    })
}

impl Tx<'_> {
    /// Raises the alert of a budget, once a month.
    pub(super) fn check_budget(&self, account: AccountId) -> Result<()> {
        let now = alerts(self.conn, account, self.now)?;
        let Some(budget) = now.monthly_budget else {
            return Ok(());
        };
        let reached = now.spent_this_month.0.saturating_mul(10_000)
            >= budget.0.saturating_mul(now.alert_threshold_percent.0);
        let raised = reached
            && self.conn.execute(
                "UPDATE spending_alerts SET alerted_month = ?2 \
                 WHERE account = ?1 AND alerted_month IS DISTINCT FROM ?2",
                params![account.as_bytes(), month(self.now)],
            )? > 0;
        if !raised {
            return Ok(());
        }
        let title = format!(
            "You have spent {} of your monthly budget of {budget} USD",
            now.spent_this_month
        );
        let data = json!({
            "spent": now.spent_this_month, "budget": budget,
            "threshold_percent": now.alert_threshold_percent,
        });
        self.notify(account, NotificationKind::Payment, &title, &data)?;
        if now.email_alerts_enabled {
            let to = email(self, account)?;
            self.send_mail(&to, &title, &format!("{title}.\n"))?;
        }
        Ok(())
    }
}

impl Store {
    /// The budget, and what was spent of it.
    pub fn spending_alerts(&self, account: AccountId) -> Result<SpendingAlerts> {
        let now = self.source().now_ms();
        self.read(|conn| alerts(conn, account, now))
    }

    /// Changes the budget; a new one can raise its alert in the same month again.
    pub fn set_spending_alerts(
        &self,
        account: AccountId,
        change: &SetSpendingAlerts,
    ) -> Result<SpendingAlerts> {
        self.write(|tx| {
            let known = alerts(tx.conn, account, tx.now)?;
            tx.conn.execute(
                "INSERT INTO spending_alerts (account, monthly_budget, threshold, email_enabled) \
                 VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (account) DO UPDATE SET monthly_budget = excluded.monthly_budget, threshold = excluded.threshold, email_enabled = excluded.email_enabled, \
                 alerted_month = NULL",
                params![
                    account.as_bytes(),
                    change.monthly_budget.or(known.monthly_budget).map(|budget| budget.0),
                    change
                        .alert_threshold_percent
                        .unwrap_or(known.alert_threshold_percent)
                        .0,
                    change
                        .email_alerts_enabled
                        .unwrap_or(known.email_alerts_enabled)
                ],
            )?;
            alerts(tx.conn, account, tx.now)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_at_its_first_midnight() {
        let at = Timestamp::parse("2026-02-17T13:14:15.016Z").unwrap();
        assert_eq!(
            Timestamp(month_start(at.0)).to_string(),
            "2026-02-01T00:00:00.000Z"
        );
    }
}
