//! Tips: from one person to another's jar.

use super::Purchase;
use super::ledger::{Book, Currency, Posting, transfer};
use crate::db::{Connection, Optional as _, params};
use crate::error::{Error, Result};
use crate::rows::{fresh_id, id, name_of};
use crate::social::refuse_blocked;
use crate::{Store, Tx};
use cairn_model::AccountId;
use cairn_wire::notifications::NotificationKind;
use cairn_wire::social::FeedEntryKind;
use cairn_wire::social::{TipCurrency, TipJar, TipReceipt};
use cairn_wire::{Amount, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

/// A tip to be given.
pub struct NewTip<'a> {
    pub sender: AccountId,
    pub jar: Uuid,
    pub currency: TipCurrency,
    /// Dollars or tokens.
    pub amount: Amount,
    pub message: &'a str,
    pub is_anonymous: bool,
}

/// The account that a tip goes to.
struct Recipient {
    id: AccountId,
    name: String,
}

impl Store {
    /// Returns who receives the tips of a jar, for somebody who is about to give one.
    ///
    /// # Errors
    /// 404 for no jar, 403 for somebody whom its holder blocks.
    pub fn tip_jar(&self, viewer: AccountId, jar: Uuid) -> Result<TipJar> {
        self.read(|conn| {
            let holder = holder_of_jar(conn, jar)?;
            refuse_blocked(conn, viewer, holder.id)?;
            Ok(TipJar {
                id: jar,
                user_id: holder.id,
                display_name: holder.name,
            })
        })
    }

    /// Gives a tip: dollars from the card, tokens from the wallet.
    ///
    /// # Errors
    /// 404 for no jar, 400 for one's own, 403 for somebody whom its holder blocks, 402.
    pub fn tip(&self, tip: &NewTip<'_>) -> Result<TipReceipt> {
        self.write(|tx| {
            let recipient = holder_of_jar(tx.conn, tip.jar)?;
            if recipient.id == tip.sender {
                return Err(Error::invalid("`tip_jar_id` is your own"));
            }
            refuse_blocked(tx.conn, tip.sender, recipient.id)?;
            let receipt = tx.pay_tip(tip, recipient.id)?;
            tx.record_tip(tip, recipient.id, receipt)?;
            tx.announce_tip(tip, &recipient, receipt)?;
            Ok(TipReceipt {
                id: receipt,
                tip_jar_id: tip.jar,
                recipient_id: recipient.id,
                recipient_name: recipient.name,
                currency_type: tip.currency,
                amount: tip.amount,
                message: (!tip.message.is_empty()).then(|| tip.message.to_owned()),
                is_anonymous: tip.is_anonymous,
                created_at: Timestamp(tx.now),
            })
        })
    }
}

fn holder_of_jar(conn: &Connection, jar: Uuid) -> Result<Recipient> {
    conn.query_row(
        "SELECT a.id, a.display_name FROM profiles p JOIN accounts a ON a.id = p.account \
         WHERE p.tip_jar = ?1",
        [jar.as_bytes()],
        |row| {
            Ok(Recipient {
                id: id(row, 0)?,
                name: row.get(1)?,
            })
        },
    )
    .optional()?
    .ok_or_else(|| Error::not_found(format!("there is no tip jar {jar}")))
}

impl Tx<'_> {
    /// Moves the money; returns the id of the entry in the ledger.
    fn pay_tip(&self, tip: &NewTip<'_>, recipient: AccountId) -> Result<Uuid> {
        let wallet = Book::Wallet(recipient);
        match tip.currency {
            TipCurrency::Fiat => {
                let bought = self.buy(Purchase {
                    account: tip.sender,
                    kind: "tip",
                    cents: tip.amount.0,
                    postings: vec![Posting {
                        book: wallet,
                        currency: Currency::Usd,
                        amount: tip.amount.0,
                    }],
                })?;
                Ok(bought.id)
            }
            TipCurrency::Tokens => {
                let entry = fresh_id(self.source);
                let sender = Book::Wallet(tip.sender);
                let lines = transfer(sender, wallet, Currency::Tokens, tip.amount.0);
                self.post(entry, "tip", &lines)?;
                Ok(entry)
            }
        }
    }

    fn record_tip(&self, tip: &NewTip<'_>, recipient: AccountId, receipt: Uuid) -> Result<()> {
        self.conn.execute(
            "INSERT INTO tips (id, sender, recipient, currency, amount, message, anonymous, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                receipt.as_bytes(),
                tip.sender.as_bytes(),
                recipient.as_bytes(),
                name_of(&tip.currency),
                tip.amount.0,
                tip.message,
                tip.is_anonymous,
                self.now
            ],
        )?;
        Ok(())
    }

    /// Notifies the recipient, and shows the tip to followers unless it is anonymous.
    fn announce_tip(&self, tip: &NewTip<'_>, recipient: &Recipient, receipt: Uuid) -> Result<()> {
        let sender = if tip.is_anonymous {
            Value::Null
        } else {
            json!(tip.sender)
        };
        let data = json!({
            "tip_id": receipt, "sender_id": sender, "amount": tip.amount,
            "currency_type": tip.currency, "message": tip.message,
        });
        self.notify(
            recipient.id,
            NotificationKind::Tip,
            "You were given a tip",
            &data,
        )?;
        if !tip.is_anonymous {
            let data = json!({"recipient_id": recipient.id, "recipient_name": recipient.name});
            self.publish(tip.sender, FeedEntryKind::Tipped, &data)?;
        }
        Ok(())
    }
}
