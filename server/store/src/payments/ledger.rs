//! The double-entry ledger, in whole hundredths.
//!
//! Every entry adds up to zero in each currency, and no person's book goes below zero. Nothing is
//! ever changed or deleted.

use crate::Tx;
use crate::db::{Connection, params};
use crate::error::{Error, Result};
use cairn_model::AccountId;
use cairn_wire::Amount;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A book of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Book {
    /// The amounts that a person has paid from outside; below zero.
    Card(AccountId),
    /// The amounts that a person has.
    Wallet(AccountId),
    /// The amounts that a creator gets at the end of a period.
    Earnings(AccountId),
    /// The amounts that are on their way out to a person.
    Payouts(AccountId),
    /// The service's own income.
    Revenue,
    /// The origin and the destination of tokens.
    Mint,
}

impl Book {
    fn name(self) -> String {
        match self {
            Self::Card(account) => format!("card:{account}"),
            Self::Wallet(account) => format!("wallet:{account}"),
            Self::Earnings(account) => format!("earnings:{account}"),
            Self::Payouts(account) => format!("payouts:{account}"),
            Self::Revenue => "revenue".to_owned(),
            Self::Mint => "mint".to_owned(),
        }
    }

    /// True if it stands for things that a person has, which can't be less than none.
    fn is_held(self) -> bool {
        match self {
            Self::Wallet(_) | Self::Earnings(_) | Self::Payouts(_) => true,
            Self::Card(_) | Self::Revenue | Self::Mint => false,
        }
    }
}

/// The unit that is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Currency {
    /// Cents.
    Usd,
    /// Hundredths of a wallet token.
    Tokens,
    /// Whole AI tokens.
    AiTokens,
}

impl Currency {
    fn name(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Tokens => "tokens",
            Self::AiTokens => "ai_tokens",
        }
    }

    fn format_amount(self, amount: i64) -> String {
        match self {
            Self::Usd => format!("{} USD", Amount(amount)),
            Self::Tokens => format!("{} tokens", Amount(amount)),
            Self::AiTokens => format!("{amount} AI tokens"),
        }
    }
}

/// One line of an entry; what comes in is above zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Posting {
    pub(super) book: Book,
    pub(super) currency: Currency,
    pub(super) amount: i64,
}

/// Two lines that move an amount.
pub(super) fn transfer(from: Book, to: Book, currency: Currency, amount: i64) -> [Posting; 2] {
    [
        Posting {
            book: from,
            currency,
            amount: -amount,
        },
        Posting {
            book: to,
            currency,
            amount,
        },
    ]
}

/// Returns the amount that a book holds.
pub(super) fn balance(conn: &Connection, book: Book, currency: Currency) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "SELECT coalesce(sum(amount), 0) FROM ledger_postings WHERE book = ?1 AND currency = ?2",
        )?
        .query_row(params![book.name(), currency.name()], |row| row.get(0))?)
}

/// Returns the sum of all amounts that ever came into a book.
pub(super) fn total_received(conn: &Connection, book: Book, currency: Currency) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "SELECT coalesce(sum(amount), 0) FROM ledger_postings \
             WHERE book = ?1 AND currency = ?2 AND amount > 0",
        )?
        .query_row(params![book.name(), currency.name()], |row| row.get(0))?)
}

/// Cents that left a person's card since a time.
pub(super) fn cents_spent_since(conn: &Connection, account: AccountId, since: i64) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "SELECT coalesce(-sum(p.amount), 0) FROM ledger_postings p \
             JOIN ledger_entries e ON e.row = p.entry \
             WHERE p.book = ?1 AND p.currency = 'usd' AND e.created_at >= ?2",
        )?
        .query_row(params![Book::Card(account).name(), since], |row| row.get(0))?)
}

impl Tx<'_> {
    /// Writes one entry.
    ///
    /// # Errors
    /// 402 if it would take more from a person's book than is there; an internal error for lines
    /// that do not balance.
    pub(super) fn post(&self, id: Uuid, kind: &str, postings: &[Posting]) -> Result<()> {
        let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
        for posting in postings {
            *sums.entry(posting.currency).or_default() += posting.amount;
        }
        if let Some((currency, sum)) = sums.iter().find(|(_, sum)| **sum != 0) {
            return Err(Error::Internal(format!(
                "the ledger entry {kind} is off by {}",
                currency.format_amount(*sum)
            )));
        }
        let row: i64 = self.conn.query_row(
            "INSERT INTO ledger_entries (id, kind, created_at) VALUES (?1, ?2, ?3) RETURNING row",
            params![id.as_bytes(), kind, self.now],
            |row| row.get(0),
        )?;
        for posting in postings.iter().filter(|posting| posting.amount != 0) {
            self.conn
                .prepare_cached(
                    "INSERT INTO ledger_postings (entry, book, currency, amount) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![
                    row,
                    posting.book.name(),
                    posting.currency.name(),
                    posting.amount
                ])?;
        }
        for posting in postings {
            if posting.amount < 0 && posting.book.is_held() {
                let left = balance(self.conn, posting.book, posting.currency)?;
                if left < 0 {
                    return Err(Error::PaymentRequired(format!(
                        "that takes {}, and there are {}",
                        posting.currency.format_amount(-posting.amount),
                        posting.currency.format_amount(left - posting.amount)
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
