//! Creators: what they offer, who pays for it, and when they get the money.
//!
//! A period's price waits in the creator's earnings until the period is over, then it goes into the
//! wallet.

mod renewal;

use super::ledger::{Book, Currency, balance, total_received};
use crate::catalog::{CURRENCY, PERIOD_MS};
use crate::db::{self, Connection, Optional as _, Row, params};
use crate::error::{Error, Result};
use crate::page::read_page;
use crate::rows::{fresh_id, id, name_of, word};
use crate::social::refuse_blocked;
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::payments::{
    CreateCreatorPlan, CreatorEarnings, CreatorPlan, CreatorSubscription, CreatorSubscriptionState,
};
use cairn_wire::social::FeedEntryKind;
use cairn_wire::{Amount, Timestamp};
use serde_json::json;
use uuid::Uuid;

const PLAN_SQL: &str = "SELECT p.id, p.creator, p.name, p.price_monthly, p.description, \
     (SELECT count(*) FROM creator_subscriptions s WHERE s.plan = p.id AND s.state <> 'ended'), p.created_at \
     FROM creator_plans p";

const SUBSCRIPTION_SQL: &str = "SELECT s.id, s.plan, p.name, s.creator, p.price_monthly, s.state, \
     s.started_at, s.period_end, s.cancelled_at FROM creator_subscriptions s \
     JOIN creator_plans p ON p.id = s.plan";

fn plan(row: &Row<'_>) -> db::Result<CreatorPlan> {
    Ok(CreatorPlan {
        id: id(row, 0)?,
        creator_id: id(row, 1)?,
        name: row.get(2)?,
        price_monthly: Amount(row.get(3)?),
        currency: CURRENCY.to_owned(),
        description: row.get(4)?,
        subscriber_count: row.get(5)?,
        created_at: Timestamp(row.get(6)?),
    })
}

fn subscription(row: &Row<'_>) -> db::Result<CreatorSubscription> {
    Ok(CreatorSubscription {
        id: id(row, 0)?,
        plan_id: id(row, 1)?,
        plan_name: row.get(2)?,
        creator_id: id(row, 3)?,
        price_monthly: Amount(row.get(4)?),
        currency: CURRENCY.to_owned(),
        status: word(row, 5)?,
        started_at: Timestamp(row.get(6)?),
        access_until: Timestamp(row.get(7)?),
        cancelled_at: row.get::<Option<i64>>(8)?.map(Timestamp),
    })
}

fn open_subscription(
    conn: &Connection,
    subscriber: AccountId,
    creator: AccountId,
) -> Result<Option<CreatorSubscription>> {
    Ok(conn
        .prepare_cached(&format!(
            "{SUBSCRIPTION_SQL} WHERE s.subscriber = ?1 AND s.creator = ?2 AND s.state <> 'ended'"
        ))?
        .query_row(
            params![subscriber.as_bytes(), creator.as_bytes()],
            subscription,
        )
        .optional()?)
}

fn find_plan(conn: &Connection, wanted: Uuid) -> Result<CreatorPlan> {
    conn.prepare_cached(&format!("{PLAN_SQL} WHERE p.id = ?1"))?
        .query_row([wanted.as_bytes()], plan)
        .optional()?
        .ok_or_else(|| Error::not_found(format!("there is no creator plan {wanted}")))
}

impl Tx<'_> {
    fn set_state(&self, wanted: Uuid, state: CreatorSubscriptionState) -> Result<()> {
        let at = (state == CreatorSubscriptionState::Cancelled).then_some(self.now);
        self.conn.execute(
            "UPDATE creator_subscriptions SET state = ?2, cancelled_at = ?3 WHERE id = ?1",
            params![wanted.as_bytes(), name_of(&state), at],
        )?;
        Ok(())
    }
}

impl Store {
    /// Makes a plan that others can subscribe to.
    pub fn create_creator_plan(
        &self,
        creator: AccountId,
        new: &CreateCreatorPlan,
    ) -> Result<CreatorPlan> {
        self.write(|tx| {
            let wanted = fresh_id(tx.source);
            tx.conn.execute(
                "INSERT INTO creator_plans (id, creator, name, price_monthly, description, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    wanted.as_bytes(),
                    creator.as_bytes(),
                    new.name,
                    new.price_monthly.0,
                    new.description.as_deref().unwrap_or_default(),
                    tx.now
                ],
            )?;
            tx.publish(
                creator,
                FeedEntryKind::PlanCreated,
                &json!({"plan_id": wanted, "name": new.name, "price_monthly": new.price_monthly}),
            )?;
            find_plan(tx.conn, wanted)
        })
    }

    /// Returns a plan, for somebody who may subscribe to it.
    ///
    /// # Errors
    /// 404 for no plan, 403 for somebody whom its creator blocks.
    pub fn creator_plan(&self, viewer: AccountId, wanted: Uuid) -> Result<CreatorPlan> {
        self.read(|conn| {
            let plan = find_plan(conn, wanted)?;
            refuse_blocked(conn, viewer, plan.creator_id)?;
            Ok(plan)
        })
    }

    /// One page of a creator's own plans, oldest first, and their number.
    pub fn creator_plans(
        &self,
        creator: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<CreatorPlan>, u64)> {
        self.read(|conn| {
            let count = "SELECT count(*) FROM creator_plans WHERE creator = ?1";
            let list = format!(
                "{PLAN_SQL} WHERE p.creator = ?1 ORDER BY p.created_at, p.id LIMIT ?3 OFFSET ?2"
            );
            let which = params![creator.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), plan)
        })
    }

    /// Begins a recurring payment; one that was cancelled and still runs goes on instead.
    ///
    /// # Errors
    /// 404, 403 for somebody whom the creator blocks, 400 for one's own plan, 409 for a second
    /// subscription to one creator, 402.
    pub fn subscribe_to_creator(
        &self,
        subscriber: AccountId,
        wanted: Uuid,
    ) -> Result<CreatorSubscription> {
        self.write(|tx| {
            let plan = find_plan(tx.conn, wanted)?;
            let creator = plan.creator_id;
            if creator == subscriber {
                return Err(Error::invalid("`plan_id` is a plan of your own"));
            }
            refuse_blocked(tx.conn, subscriber, creator)?;
            let missing = || Error::Internal("a subscription was not written".into());
            if let Some(known) = open_subscription(tx.conn, subscriber, creator)? {
                if known.status == CreatorSubscriptionState::Cancelled && known.plan_id == wanted {
                    tx.set_state(known.id, CreatorSubscriptionState::Active)?;
                    return open_subscription(tx.conn, subscriber, creator)?.ok_or_else(missing);
                }
                return Err(Error::conflict(format!(
                    "you subscribe to {creator} already, until {}",
                    known.access_until
                )));
            }
            let end = tx.now + PERIOD_MS;
            tx.conn.execute(
                "INSERT INTO creator_subscriptions (id, subscriber, creator, plan, state, started_at, period_end) \
                 VALUES (?1, ?2, ?3, ?4, 'active', ?5, ?6)",
                params![
                    fresh_id(tx.source).as_bytes(),
                    subscriber.as_bytes(),
                    creator.as_bytes(),
                    wanted.as_bytes(),
                    tx.now,
                    end
                ],
            )?;
            tx.charge_period(subscriber, creator, plan.price_monthly.0, end)?;
            let data = json!({"plan_id": wanted, "subscriber_id": subscriber});
            tx.notify(creator, NotificationKind::Payment, "You have a new subscriber", &data)?;
            open_subscription(tx.conn, subscriber, creator)?.ok_or_else(missing)
        })
    }

    /// Cancels the subscription to a creator; access lasts to the end of the period.
    ///
    /// # Errors
    /// 404 without one; 409 for one that is cancelled already.
    pub fn cancel_creator_subscription(
        &self,
        subscriber: AccountId,
        creator: AccountId,
    ) -> Result<CreatorSubscription> {
        self.write(|tx| {
            let none = || Error::not_found(format!("you have no subscription to {creator}"));
            let known = open_subscription(tx.conn, subscriber, creator)?.ok_or_else(none)?;
            if known.status == CreatorSubscriptionState::Cancelled {
                return Err(Error::conflict(format!(
                    "the subscription to {creator} is cancelled already; it lasts until {}",
                    known.access_until
                )));
            }
            tx.set_state(known.id, CreatorSubscriptionState::Cancelled)?;
            open_subscription(tx.conn, subscriber, creator)?.ok_or_else(none)
        })
    }

    /// One page of what somebody subscribes to or did, latest first, and their number.
    pub fn creator_subscriptions(
        &self,
        subscriber: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<CreatorSubscription>, u64)> {
        self.read(|conn| {
            let count = "SELECT count(*) FROM creator_subscriptions WHERE subscriber = ?1";
            let list = format!(
                "{SUBSCRIPTION_SQL} WHERE s.subscriber = ?1 ORDER BY s.started_at DESC, s.id LIMIT ?3 OFFSET ?2"
            );
            let which = params![subscriber.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), subscription)
        })
    }

    /// Returns a creator's earnings from subscriptions.
    pub fn creator_earnings(&self, creator: AccountId) -> Result<CreatorEarnings> {
        self.read(|conn| {
            let book = Book::Earnings(creator);
            let total = total_received(conn, book, Currency::Usd)?;
            let pending = balance(conn, book, Currency::Usd)?;
            let subscriber_count = conn.query_row(
                "SELECT count(*) FROM creator_subscriptions WHERE creator = ?1 AND state <> 'ended'",
                [creator.as_bytes()],
                |row| row.get(0),
            )?;
            Ok(CreatorEarnings {
                total: Amount(total),
                pending: Amount(pending),
                paid_out: Amount(total - pending),
                subscriber_count,
                currency: CURRENCY.to_owned(),
            })
        })
    }
}
