//! The wallet: what a person holds, what they put in, what they take out.

use super::Purchase;
use super::ledger::{Book, Currency, Posting, balance, transfer};
use crate::catalog;
use crate::db::{self, Row, params};
use crate::error::Result;
use crate::page::read_page;
use crate::rows::{fresh_id, id, name_of, word};
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::payments::{Receipt, Wallet, Withdrawal, WithdrawalState};
use cairn_wire::{Amount, Timestamp};
use serde_json::json;
use uuid::Uuid;

/// A withdrawal is paid a day after it was asked for.
const PAYS_AFTER_MS: i64 = 24 * 3600 * 1000;

const WITHDRAWAL_COLUMNS: &str = "id, amount, state, requested_at, paid_at";

fn withdrawal(row: &Row<'_>) -> db::Result<Withdrawal> {
    Ok(Withdrawal {
        id: id(row, 0)?,
        amount: Amount(row.get(1)?),
        status: word(row, 2)?,
        requested_at: Timestamp(row.get(3)?),
        paid_at: row.get::<Option<i64>>(4)?.map(Timestamp),
    })
}

impl Tx<'_> {
    /// Pays the withdrawals that have waited long enough.
    pub(super) fn pay_withdrawals(&self) -> Result<()> {
        let due: Vec<(Uuid, AccountId, i64)> = self
            .conn
            .prepare(
                "SELECT id, account, amount FROM withdrawals \
                 WHERE state = 'requested' AND requested_at <= ?1 ORDER BY requested_at, id",
            )?
            .query_map([self.now - PAYS_AFTER_MS], |row| {
                Ok((id(row, 0)?, id(row, 1)?, row.get(2)?))
            })?
            .collect::<db::Result<_>>()?;
        for (wanted, account, amount) in due {
            let lines = transfer(Book::Payouts(account), Book::Mint, Currency::Tokens, amount);
            self.post(fresh_id(self.source), "withdrawal_paid", &lines)?;
            self.conn.execute(
                "UPDATE withdrawals SET state = ?2, paid_at = ?3 WHERE id = ?1",
                params![wanted.as_bytes(), name_of(&WithdrawalState::Paid), self.now],
            )?;
            let data = json!({"withdrawal_id": wanted, "amount": Amount(amount)});
            self.notify(
                account,
                NotificationKind::Payment,
                "Your withdrawal was paid",
                &data,
            )?;
        }
        Ok(())
    }
}

impl Store {
    /// Returns the amounts that a person holds.
    pub fn wallet(&self, account: AccountId) -> Result<Wallet> {
        self.read(|conn| {
            let wallet = Book::Wallet(account);
            Ok(Wallet {
                fiat_balance: Amount(balance(conn, wallet, Currency::Usd)?),
                currency: catalog::CURRENCY.to_owned(),
                token_balance: Amount(balance(conn, wallet, Currency::Tokens)?),
                pending_payouts: Amount(balance(conn, Book::Payouts(account), Currency::Tokens)?),
            })
        })
    }

    /// Buys wallet tokens, one for a dollar.
    ///
    /// # Errors
    /// 402 for a declined charge.
    pub fn deposit(&self, account: AccountId, amount: Amount) -> Result<Receipt> {
        self.write(|tx| {
            let mut postings = transfer(
                Book::Mint,
                Book::Wallet(account),
                Currency::Tokens,
                amount.0,
            )
            .to_vec();
            postings.push(Posting {
                book: Book::Revenue,
                currency: Currency::Usd,
                amount: amount.0,
            });
            tx.buy(Purchase {
                account,
                kind: "deposit",
                cents: amount.0,
                postings,
            })
        })
    }

    /// Gives an account wallet tokens for nothing.
    pub fn seed_tokens(&self, account: AccountId, amount: Amount) -> Result<()> {
        self.write(|tx| {
            let lines = transfer(
                Book::Mint,
                Book::Wallet(account),
                Currency::Tokens,
                amount.0,
            );
            tx.post(fresh_id(tx.source), "gift", &lines)
        })
    }

    /// Asks for tokens to be paid out; they leave the wallet at once.
    ///
    /// # Errors
    /// 402 if the wallet holds less.
    pub fn withdraw(&self, account: AccountId, amount: Amount) -> Result<Withdrawal> {
        self.write(|tx| {
            let lines = transfer(
                Book::Wallet(account),
                Book::Payouts(account),
                Currency::Tokens,
                amount.0,
            );
            tx.post(fresh_id(tx.source), "withdrawal_requested", &lines)?;
            let new = Withdrawal {
                id: fresh_id(tx.source),
                amount,
                status: WithdrawalState::Requested,
                requested_at: Timestamp(tx.now),
                paid_at: None,
            };
            tx.conn.execute(
                "INSERT INTO withdrawals (id, account, amount, state, requested_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    new.id.as_bytes(),
                    account.as_bytes(),
                    amount.0,
                    name_of(&new.status),
                    tx.now
                ],
            )?;
            Ok(new)
        })
    }

    /// One page of a person's withdrawals, latest first, and their number.
    pub fn withdrawals(
        &self,
        account: AccountId,
        skip: u64,
        take: u64,
    ) -> Result<(Vec<Withdrawal>, u64)> {
        self.read(|conn| {
            let count = "SELECT count(*) FROM withdrawals WHERE account = ?1";
            let list = format!(
                "SELECT {WITHDRAWAL_COLUMNS} FROM withdrawals WHERE account = ?1 \
                 ORDER BY requested_at DESC, id LIMIT ?3 OFFSET ?2"
            );
            let which = params![account.as_bytes()];
            read_page(conn, (count, &list), which, (skip, take), withdrawal)
        })
    }
}
