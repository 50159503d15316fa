//! Coupons: what they take off a price, and that each account uses one once.

use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::payments::{Coupon, DiscountType};
use cairn_wire::{Amount, Timestamp};

fn find(conn: &Connection, code: &str) -> Result<Coupon> {
    conn.query_row(
        "SELECT code, percent_off, amount_off, description, expires_at FROM coupons WHERE code = ?1",
        [code],
        |row| {
            let percent_off: Option<i64> = row.get(1)?;
            Ok(Coupon {
                code: row.get(0)?,
                valid: true,
                discount_type: if percent_off.is_some() {
                    DiscountType::Percent
                } else {
                    DiscountType::Amount
                },
                percent_off,
                amount_off: row.get::<Option<i64>>(2)?.map(Amount),
                description: row.get(3)?,
                expires_at: row.get::<Option<i64>>(4)?.map(Timestamp),
            })
        },
    )
    .optional()?
    .ok_or_else(|| Error::not_found(format!("there is no coupon {code}")))
}

/// A coupon that the account can use now.
fn find_usable(conn: &Connection, account: AccountId, code: &str, now: i64) -> Result<Coupon> {
    let found = find(conn, code)?;
    if let Some(until) = found.expires_at.filter(|until| until.0 <= now) {
        return Err(Error::Gone(format!(
            "the coupon {} expired at {until}",
            found.code
        )));
    }
    let used: bool = conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM coupon_uses WHERE code = ?1 AND account = ?2)",
        params![found.code, account.as_bytes()],
        |row| row.get(0),
    )?;
    if used {
        return Err(Error::conflict(format!(
            "the coupon {} was used by this account already",
            found.code
        )));
    }
    Ok(found)
}

impl Tx<'_> {
    /// The price after a coupon, which is used up by it.
    ///
    /// # Errors
    /// 404, 409, 410.
    pub(super) fn redeem(&self, account: AccountId, code: Option<&str>, cents: i64) -> Result<i64> {
        let Some(code) = code else { return Ok(cents) };
        let coupon = find_usable(self.conn, account, code, self.now)?;
        self.conn.execute(
            "INSERT INTO coupon_uses (code, account, created_at) VALUES (?1, ?2, ?3)",
            params![coupon.code, account.as_bytes(), self.now],
        )?;
        // Rounded down, for the service: half a cent can't be charged.
        let off = coupon
            .percent_off
            .map_or(0, |percent| cents * percent / 100)
            + coupon.amount_off.map_or(0, |amount| amount.0);
        Ok((cents - off).max(0))
    }
}

impl Store {
    /// Returns what a coupon gives the account.
    ///
    /// # Errors
    /// 404 for an unknown one, 410 for an expired one, 409 for one that the account has used.
    pub fn coupon(&self, account: AccountId, code: &str) -> Result<Coupon> {
        let now = self.source().now_ms();
        self.read(|conn| find_usable(conn, account, code, now))
    }

    /// Puts a coupon there; one that is there stays as it is.
    pub fn seed_coupon(
        &self,
        code: &str,
        percent_off: Option<i64>,
        amount_off: Option<i64>,
        description: &str,
        expires_at: Option<i64>,
    ) -> Result<()> {
        self.write(|tx| {
            tx.conn.execute(
                "INSERT INTO coupons (code, percent_off, amount_off, description, expires_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
                params![code, percent_off, amount_off, description, expires_at],
            )?;
            Ok(())
        })
    }
}
