//! Money: the ledger and everything that moves it.
//!
//! Every charge, credit and payout is one balanced entry of the ledger, in the same transaction as
//! what it was for.

mod alerts;
mod coupons;
mod creators;
mod ledger;
mod subscriptions;
mod tips;
mod tokens;
mod wallet;

pub(crate) use subscriptions::plan_of;
pub use tips::NewTip;

use super::Tx;
use crate::error::Result;
use crate::provider;
use cairn_model::AccountId;
use cairn_wire::Amount;
use cairn_wire::payments::Receipt;
use ledger::{Book, Currency, Posting};
use uuid::Uuid;

/// A purchase that somebody is charged for.
struct Purchase<'a> {
    account: AccountId,
    kind: &'a str,
    cents: i64,
    /// The movements of the money and the goods, besides the one from the card.
    postings: Vec<Posting>,
}

fn email(tx: &Tx<'_>, account: AccountId) -> Result<String> {
    Ok(tx.conn.query_row(
        "SELECT email FROM accounts WHERE id = ?1",
        [account.as_bytes()],
        |row| row.get(0),
    )?)
}

impl Tx<'_> {
    /// Charges a card through the provider and books it.
    fn buy(&self, purchase: Purchase<'_>) -> Result<Receipt> {
        let entry: Uuid = super::rows::fresh_id(self.source);
        let amount = Amount(purchase.cents);
        let charge_id = if purchase.cents > 0 {
            let email = email(self, purchase.account)?;
            provider::charge(purchase.account, &email, amount, entry)?
        } else {
            "none".to_owned()
        };
        let mut postings = purchase.postings;
        if purchase.cents > 0 {
            postings.push(Posting {
                book: Book::Card(purchase.account),
                currency: Currency::Usd,
                amount: -purchase.cents,
            });
        }
        self.post(entry, purchase.kind, &postings)?;
        if purchase.cents > 0 {
            self.check_budget(purchase.account)?;
        }
        Ok(Receipt {
            id: entry,
            charge_id,
            charged: amount,
            currency: crate::catalog::CURRENCY.to_owned(),
            created_at: cairn_wire::Timestamp(self.now),
        })
    }
}
