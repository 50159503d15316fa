//! AI tokens: bought in packs.

use super::Purchase;
use super::ledger::Posting;
use super::ledger::{Book, Currency, balance, total_received, transfer};
use crate::ai::included_left;
use crate::catalog;
use crate::error::{Error, Result};
use crate::rows::fresh_id;
use crate::{Store, Tx};
use cairn_model::{AccountId, TokenPackId};
use cairn_wire::payments::{Receipt, TokenBalance};

impl Tx<'_> {
    /// Takes bought tokens for a use of the assistant.
    ///
    /// # Errors
    /// 402 if there are fewer.
    pub(crate) fn spend_ai_tokens(&self, account: AccountId, tokens: i64) -> Result<()> {
        let wallet = Book::Wallet(account);
        let left = balance(self.conn, wallet, Currency::AiTokens)?;
        if tokens > left {
            return Err(Error::PaymentRequired(format!(
                "this takes {tokens} tokens more than the plan has left this month, and {left} bought ones are left; \
                 buy a pack of AI tokens"
            )));
        }
        let lines = transfer(wallet, Book::Mint, Currency::AiTokens, tokens);
        self.post(fresh_id(self.source), "ai_use", &lines)
    }
}

impl Store {
    /// Returns an account's balance of AI tokens: what the plan includes and what was bought, as far as it is left.
    pub fn token_balance(&self, account: AccountId) -> Result<TokenBalance> {
        let now = self.source().now_ms();
        self.read(|conn| {
            let wallet = Book::Wallet(account);
            let left = balance(conn, wallet, Currency::AiTokens)?;
            let purchased = total_received(conn, wallet, Currency::AiTokens)?;
            let included = included_left(conn, account, now)?;
            Ok(TokenBalance {
                balance: included + left,
                purchased,
                used: purchased - left,
                included,
            })
        })
    }

    /// Buys a pack of AI tokens.
    ///
    /// # Errors
    /// 400 for no pack, 402 for a declined charge, and the errors of the coupon.
    pub fn buy_ai_tokens(
        &self,
        account: AccountId,
        pack: TokenPackId,
        coupon: Option<&str>,
    ) -> Result<Receipt> {
        let pack = catalog::pack(pack).ok_or_else(|| {
            Error::invalid("`pack` has to be `starter`, `standard` or `professional`")
        })?;
        self.write(|tx| {
            let cents = tx.redeem(account, coupon, pack.price.0)?;
            let mut postings = transfer(
                Book::Mint,
                Book::Wallet(account),
                Currency::AiTokens,
                pack.tokens,
            )
            .to_vec();
            postings.push(Posting {
                book: Book::Revenue,
                currency: Currency::Usd,
                amount: cents,
            });
            tx.buy(Purchase {
                account,
                kind: "token_pack",
                cents,
                postings,
            })
        })
    }
}
