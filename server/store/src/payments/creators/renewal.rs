//! The periods of creators' subscriptions: charging them, ending them, and handing creators what they earned.

use crate::Tx;
use crate::catalog::PERIOD_MS;
use crate::db::{self, Optional as _, params};
use crate::error::{Error, Result};
use crate::payments::Purchase;
use crate::payments::ledger::{Book, Currency, Posting, transfer};
use crate::payments::subscriptions::IN_USE;
use crate::rows::{fresh_id, id};
use cairn_model::AccountId;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::payments::CreatorSubscriptionState;
use serde_json::json;
use uuid::Uuid;

struct Due {
    id: Uuid,
    subscriber: AccountId,
    creator: AccountId,
    price: i64,
    end: i64,
    active: bool,
}

impl Tx<'_> {
    /// Charges one period, which ends at `end`.
    pub(super) fn charge_period(
        &self,
        subscriber: AccountId,
        creator: AccountId,
        cents: i64,
        end: i64,
    ) -> Result<()> {
        self.buy(Purchase {
            account: subscriber,
            kind: "creator_subscription",
            cents,
            postings: vec![Posting {
                book: Book::Earnings(creator),
                currency: Currency::Usd,
                amount: cents,
            }],
        })?;
        self.conn.execute(
            "INSERT INTO creator_payouts (creator, amount, due_at) VALUES (?1, ?2, ?3)",
            params![creator.as_bytes(), cents, end],
        )?;
        Ok(())
    }

    /// Renews or ends subscriptions whose period is over, and hands creators what they earned. Those of an account that
    /// is disabled or about to be deleted end, as cancelled ones do.
    pub(in crate::payments) fn renew_creator_subscriptions(&self) -> Result<()> {
        loop {
            let due = self
                .conn
                .prepare_cached(&format!(
                    "SELECT s.id, s.subscriber, s.creator, p.price_monthly, s.period_end, s.state = 'active' \
                     AND s.subscriber IN (SELECT id FROM accounts WHERE {IN_USE}) \
                     FROM creator_subscriptions s JOIN creator_plans p ON p.id = s.plan \
                     WHERE s.state <> 'ended' AND s.period_end <= ?1 ORDER BY s.period_end, s.id LIMIT 1"
                ))?
                .query_row([self.now], |row| {
                    Ok(Due {
                        id: id(row, 0)?,
                        subscriber: id(row, 1)?,
                        creator: id(row, 2)?,
                        price: row.get(3)?,
                        end: row.get(4)?,
                        active: row.get(5)?,
                    })
                })
                .optional()?;
            let Some(due) = due else { break };
            self.next_period(&due)?;
        }
        self.pay_creators()
    }

    fn next_period(&self, due: &Due) -> Result<()> {
        let end = due.end + PERIOD_MS;
        let charged = if due.active {
            self.charge_period(due.subscriber, due.creator, due.price, end)
        } else {
            return self.set_state(due.id, CreatorSubscriptionState::Ended);
        };
        match charged {
            Ok(()) => {
                self.conn.execute(
                    "UPDATE creator_subscriptions SET period_end = ?2 WHERE id = ?1",
                    params![due.id.as_bytes(), end],
                )?;
                Ok(())
            }
            Err(Error::PaymentRequired(why)) => {
                self.set_state(due.id, CreatorSubscriptionState::Ended)?;
                let data = json!({"creator_id": due.creator, "reason": why});
                self.notify(
                    due.subscriber,
                    NotificationKind::Payment,
                    "Your subscription to a creator ended: the payment was declined",
                    &data,
                )
            }
            Err(other) => Err(other),
        }
    }

    fn pay_creators(&self) -> Result<()> {
        let due: Vec<(i64, AccountId, i64)> = self
            .conn
            .prepare(
                "SELECT rowid, creator, amount FROM creator_payouts \
                 WHERE paid_at IS NULL AND due_at <= ?1 ORDER BY due_at, rowid",
            )?
            .query_map([self.now], |row| {
                Ok((row.get(0)?, id(row, 1)?, row.get(2)?))
            })?
            .collect::<db::Result<_>>()?;
        for (row, creator, amount) in due {
            let lines = transfer(
                Book::Earnings(creator),
                Book::Wallet(creator),
                Currency::Usd,
                amount,
            );
            self.post(fresh_id(self.source), "creator_payout", &lines)?;
            self.conn.execute(
                "UPDATE creator_payouts SET paid_at = ?2 WHERE rowid = ?1",
                params![row, self.now],
            )?;
        }
        Ok(())
    }
}
