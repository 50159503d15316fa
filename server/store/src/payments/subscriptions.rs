//! The tier of an account: changing it, renewing it, falling back to the free one.
//!
//! A dearer tier is charged and holds at once; a cheaper one holds from the next renewal.

use super::Purchase;
use super::ledger::{Book, Currency, Posting};
use crate::catalog::{self, PERIOD_MS};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::options::to_sql_limit;
use crate::rows::{id, name_of, optional_word, word};
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::Timestamp;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::payments::{Plan, Subscription, SubscriptionState};
use serde_json::json;

/// A renewal that was declined is tried again daily, for a week.
const RETRY_MS: i64 = 24 * 3600 * 1000;
const RETRIES: i64 = 7;

/// The condition under which an account is charged for what renews itself.
pub(super) const IN_USE: &str = "disabled_at IS NULL AND deletion_requested_at IS NULL";

#[derive(Clone, Copy, Debug)]
struct Paid {
    plan: Plan,
    next_plan: Option<Plan>,
    past_due: bool,
    start: i64,
    end: i64,
}

const COLUMNS: &str = "plan, next_plan, state = 'past_due', period_start, period_end";

fn paid(row: &Row<'_>) -> db::Result<Paid> {
    Ok(Paid {
        plan: word(row, 0)?,
        next_plan: optional_word(row, 1)?,
        past_due: row.get(2)?,
        start: row.get(3)?,
        end: row.get(4)?,
    })
}

fn find(conn: &Connection, account: AccountId) -> Result<Option<Paid>> {
    Ok(conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM subscriptions WHERE account = ?1"
        ))?
        .query_row([account.as_bytes()], paid)
        .optional()?)
}

/// The tier that an account is on.
pub(crate) fn plan_of(conn: &Connection, account: AccountId) -> Result<Plan> {
    Ok(find(conn, account)?.map_or(Plan::Standard, |paid| paid.plan))
}

fn describe(paid: Option<Paid>, base_storage: u64) -> Subscription {
    let plan = paid.map_or(Plan::Standard, |paid| paid.plan);
    let past_due = paid.is_some_and(|paid| paid.past_due);
    Subscription {
        plan,
        status: if past_due {
            SubscriptionState::PastDue
        } else {
            SubscriptionState::Active
        },
        current_period_start: paid.map(|paid| Timestamp(paid.start)),
        renews_at: paid.map(|paid| Timestamp(paid.end)),
        next_plan: paid.and_then(|paid| paid.next_plan),
        tier: catalog::tier(plan, base_storage),
        available: catalog::tiers(base_storage),
    }
}

impl Tx<'_> {
    fn charge_plan(&self, account: AccountId, cents: i64) -> Result<()> {
        if cents == 0 {
            return Ok(());
        }
        self.buy(Purchase {
            account,
            kind: "subscription",
            cents,
            postings: vec![Posting {
                book: Book::Revenue,
                currency: Currency::Usd,
                amount: cents,
            }],
        })?;
        Ok(())
    }

    fn set_plan(
        &self,
        account: AccountId,
        plan: Plan,
        start: i64,
        base_storage: u64,
    ) -> Result<()> {
        if plan == Plan::Standard {
            self.conn.execute(
                "DELETE FROM subscriptions WHERE account = ?1",
                [account.as_bytes()],
            )?;
        } else {
            self.conn.execute(
                "INSERT INTO subscriptions (account, plan, next_plan, state, period_start, period_end) \
                 VALUES (?1, ?2, NULL, 'active', ?3, ?4) \
                 ON CONFLICT (account) DO UPDATE SET plan = excluded.plan, next_plan = excluded.next_plan, state = excluded.state, period_start = excluded.period_start, period_end = excluded.period_end",
                params![account.as_bytes(), name_of(&plan), start, start + PERIOD_MS],
            )?;
        }
        let limit = catalog::storage_limit(plan, base_storage);
        self.conn.execute(
            "UPDATE accounts SET storage_limit = ?2 WHERE id = ?1",
            params![account.as_bytes(), to_sql_limit(limit)],
        )?;
        Ok(())
    }

    /// Renews what is due; an account whose card is declined for a week falls back to the free tier. An account that
    /// is disabled or about to be deleted is charged nothing.
    pub(super) fn renew_plans(&self, base_storage: u64) -> Result<()> {
        loop {
            let due = self
                .conn
                .prepare_cached(&format!(
                    "SELECT {COLUMNS}, account FROM subscriptions WHERE period_end <= ?1 \
                     AND account IN (SELECT id FROM accounts WHERE {IN_USE}) ORDER BY period_end, account LIMIT 1"
                ))?
                .query_row([self.now], |row| Ok((paid(row)?, id(row, 5)?)))
                .optional()?;
            let Some((paid, account)) = due else {
                return Ok(());
            };
            self.renew(account, paid, base_storage)?;
        }
    }

    /// Makes a subscription due now whose period ended while the account was out of use: what lies in between is not
    /// charged. The period keeps its length, which counts the days in which a payment was declined.
    pub(crate) fn resume_plan(&self, account: AccountId) -> Result<()> {
        self.conn.execute(
            "UPDATE subscriptions SET period_start = ?2 - (period_end - period_start), period_end = ?2 \
             WHERE account = ?1 AND period_end < ?2",
            params![account.as_bytes(), self.now],
        )?;
        Ok(())
    }

    fn renew(&self, account: AccountId, paid: Paid, base_storage: u64) -> Result<()> {
        let plan = paid.next_plan.unwrap_or(paid.plan);
        match self.charge_plan(account, catalog::price(plan)) {
            Ok(()) => self.set_plan(account, plan, paid.end, base_storage),
            Err(Error::PaymentRequired(why)) => {
                let given_up = paid.end - paid.start >= PERIOD_MS + RETRIES * RETRY_MS;
                let title = if given_up {
                    "Your subscription ended: the payment was declined for a week"
                } else {
                    "The payment for your subscription was declined"
                };
                self.notify(
                    account,
                    NotificationKind::Payment,
                    title,
                    &json!({"reason": why}),
                )?;
                if given_up {
                    return self.set_plan(account, Plan::Standard, paid.end, base_storage);
                }
                self.conn.execute(
                    "UPDATE subscriptions SET state = 'past_due', period_end = period_end + ?2 WHERE account = ?1",
                    params![account.as_bytes(), RETRY_MS],
                )?;
                Ok(())
            }
            Err(other) => Err(other),
        }
    }
}

impl Store {
    /// The tier of an account, and all that there are.
    pub fn subscription(&self, account: AccountId, base_storage: u64) -> Result<Subscription> {
        self.read(|conn| Ok(describe(find(conn, account)?, base_storage)))
    }

    /// Puts an account on another tier: a dearer one now, a cheaper one at the next renewal.
    /// The tier in force calls a change off.
    ///
    /// # Errors
    /// 402 for a declined charge, and the errors of the coupon; 400 for a coupon with nothing to pay.
    pub fn change_plan(
        &self,
        account: AccountId,
        plan: Plan,
        coupon: Option<&str>,
        base_storage: u64,
    ) -> Result<Subscription> {
        self.write(|tx| {
            let known = find(tx.conn, account)?;
            let current = known.map_or(Plan::Standard, |paid| paid.plan);
            let dearer = catalog::price(plan) > catalog::price(current);
            if coupon.is_some() && !dearer {
                return Err(Error::invalid(
                    "a coupon lowers a charge, and this change charges nothing",
                ));
            }
            if dearer {
                let cents = tx.redeem(account, coupon, catalog::price(plan))?;
                tx.charge_plan(account, cents)?;
                tx.set_plan(account, plan, tx.now, base_storage)?;
            } else {
                let next = (plan != current).then(|| name_of(&plan));
                tx.conn.execute(
                    "UPDATE subscriptions SET next_plan = ?2 WHERE account = ?1",
                    params![account.as_bytes(), next],
                )?;
            }
            Ok(describe(find(tx.conn, account)?, base_storage))
        })
    }

    /// Does what time has made due: renewals, creators' periods, withdrawals.
    pub fn run_due_payments(&self, base_storage: u64) -> Result<()> {
        self.write(|tx| {
            tx.renew_plans(base_storage)?;
            tx.renew_creator_subscriptions()?;
            tx.pay_withdrawals()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{add_account, open};
    use crate::{Clock, Source};
    use std::sync::Arc;

    #[test]
    fn the_days_in_which_a_payment_was_declined_count_on_when_an_account_comes_back() {
        let clock = Clock::Virtual {
            start_ms: 2 * PERIOD_MS,
        };
        let store = open(Arc::new(Source::new(clock, Some(1))));
        let account = add_account(&store, "a+declined@example.com").id;
        let now = store.source().now_ms();
        // Declined six times. The seventh attempt was due a day ago.
        let (start, end) = (now - PERIOD_MS - RETRIES * RETRY_MS, now - RETRY_MS);
        let insert = "INSERT INTO subscriptions (account, plan, next_plan, state, period_start, period_end) \
             VALUES (?1, 'professional', NULL, 'past_due', ?2, ?3)";
        store
            .write(|tx| {
                let row = params![account.as_bytes(), start, end];
                tx.conn.execute(insert, row)?;
                tx.resume_plan(account)
            })
            .unwrap();
        let plan_now = || {
            store.run_due_payments(0).unwrap();
            store.subscription(account, 0).unwrap().plan
        };
        assert_eq!(plan_now(), Plan::Professional);
        store.source().advance(RETRY_MS.unsigned_abs());
        assert_eq!(plan_now(), Plan::Standard);
    }
}
