//! The books balance, whatever is done and in whichever order.

use super::*;
use crate::options::Limits;
use crate::payments::NewTip;
use crate::source::{Clock, Source};
use crate::{NewAccount, Store};
use cairn_model::TokenPackId;
use cairn_wire::payments::{CreateCreatorPlan, Plan};
use cairn_wire::social::TipCurrency;
use proptest::prelude::*;
use std::sync::Arc;

const PEOPLE: usize = 3;
const DAY_MS: u64 = 24 * 3600 * 1000;

/// Something that people do with money.
#[derive(Clone, Debug)]
enum Act {
    Deposit(usize, i64),
    BuyPack(usize, TokenPackId, Option<&'static str>),
    Tip(usize, usize, TipCurrency, i64),
    ChangePlan(usize, Plan),
    Withdraw(usize, i64),
    Support(usize, usize),
    StopSupport(usize, usize),
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Act> {
    let who = 0..PEOPLE;
    let amount = prop_oneof![1_i64..500, 900_i64..20_000];
    let pack = prop::sample::select(vec![
        TokenPackId::Starter,
        TokenPackId::Standard,
        TokenPackId::Professional,
    ]);
    let coupon = prop::option::of(prop::sample::select(vec!["TEN", "FIVE", "ALL", "none"]));
    let plan = prop::sample::select(vec![Plan::Standard, Plan::Professional, Plan::Premium]);
    let currency = prop::sample::select(vec![TipCurrency::Fiat, TipCurrency::Tokens]);
    prop_oneof![
        (who.clone(), amount.clone()).prop_map(|(a, n)| Act::Deposit(a, n)),
        (who.clone(), pack, coupon).prop_map(|(a, p, c)| Act::BuyPack(a, p, c)),
        (who.clone(), who.clone(), currency, amount.clone())
            .prop_map(|(a, b, c, n)| Act::Tip(a, b, c, n)),
        (who.clone(), plan).prop_map(|(a, p)| Act::ChangePlan(a, p)),
        (who.clone(), amount).prop_map(|(a, n)| Act::Withdraw(a, n)),
        (who.clone(), who.clone()).prop_map(|(a, b)| Act::Support(a, b)),
        (who.clone(), who).prop_map(|(a, b)| Act::StopSupport(a, b)),
        (1_u64..40).prop_map(Act::Wait),
    ]
}

struct Market {
    store: Store,
    source: Arc<Source>,
    people: Vec<AccountId>,
    jars: Vec<Uuid>,
    plans: Vec<Uuid>,
    limits: Limits,
}

impl Market {
    fn open() -> Self {
        let clock = Clock::Virtual {
            start_ms: 1_767_225_600_000,
        };
        let source = Arc::new(Source::new(clock, Some(1)));
        let store = crate::testing::open(source.clone());
        let limits = Limits::default();
        store
            .seed_coupon("TEN", Some(10), None, "ten percent", None)
            .unwrap();
        store
            .seed_coupon("FIVE", None, Some(500), "five dollars", None)
            .unwrap();
        store
            .seed_coupon("ALL", Some(100), None, "everything", None)
            .unwrap();
        let mut market = Self {
            store,
            source,
            people: Vec::new(),
            jars: Vec::new(),
            plans: Vec::new(),
            limits,
        };
        for n in 0..PEOPLE {
            // The last one's card is always declined.
            let tag = if n + 1 == PEOPLE { "+declined" } else { "" };
            let email = format!("p{n}{tag}@example.com");
            let account = market
                .store
                .add_account(&NewAccount {
                    email: &email,
                    password: "x",
                    limits,
                })
                .unwrap()
                .id;
            market
                .jars
                .push(market.store.own_profile(account).unwrap().tip_jar_id);
            let plan = CreateCreatorPlan {
                name: "Supporter".into(),
                price_monthly: Amount(350),
                description: None,
            };
            market
                .plans
                .push(market.store.create_creator_plan(account, &plan).unwrap().id);
            market.people.push(account);
        }
        market
    }

    /// Does it; refusals are fine, as long as they leave the books alone.
    fn act(&self, act: &Act) {
        let base = self.limits.storage;
        let outcome = match *act {
            Act::Deposit(a, n) => self.store.deposit(self.people[a], Amount(n)).map(drop),
            Act::BuyPack(a, pack, coupon) => self
                .store
                .buy_ai_tokens(self.people[a], pack, coupon)
                .map(drop),
            Act::Tip(a, b, currency, n) => self
                .store
                .tip(&NewTip {
                    sender: self.people[a],
                    jar: self.jars[b],
                    currency,
                    amount: Amount(n),
                    message: "",
                    is_anonymous: false,
                })
                .map(drop),
            Act::ChangePlan(a, plan) => self
                .store
                .change_plan(self.people[a], plan, None, base)
                .map(drop),
            Act::Withdraw(a, n) => self.store.withdraw(self.people[a], Amount(n)).map(drop),
            Act::Support(a, b) => self
                .store
                .subscribe_to_creator(self.people[a], self.plans[b])
                .map(drop),
            Act::StopSupport(a, b) => self
                .store
                .cancel_creator_subscription(self.people[a], self.people[b])
                .map(drop),
            Act::Wait(days) => {
                self.source.advance(days * DAY_MS);
                self.store.run_due_payments(base)
            }
        };
        if let Err(error) = outcome {
            assert!(
                !matches!(error, Error::Internal(_) | Error::Sql(_)),
                "{act:?}: {error}"
            );
        }
    }

    fn check(&self) {
        self.store
            .read(|conn| {
                let unbalanced: i64 = conn.query_row(
                    "SELECT count(*) FROM (SELECT 1 FROM ledger_postings GROUP BY entry, currency \
                     HAVING sum(amount) <> 0) unbalanced",
                    [],
                    |row| row.get(0),
                )?;
                assert_eq!(unbalanced, 0, "every entry balances");
                let empty: i64 = conn.query_row(
                    "SELECT count(*) FROM ledger_entries WHERE row NOT IN (SELECT entry FROM ledger_postings)",
                    [],
                    |row| row.get(0),
                )?;
                assert_eq!(empty, 0, "every entry moves something");
                for person in &self.people {
                    for book in [
                        Book::Wallet(*person),
                        Book::Earnings(*person),
                        Book::Payouts(*person),
                    ] {
                        for currency in [Currency::Usd, Currency::Tokens, Currency::AiTokens] {
                            assert!(balance(conn, book, currency)? >= 0, "{book:?} {currency:?}");
                        }
                    }
                    assert!(balance(conn, Book::Card(*person), Currency::Usd)? <= 0);
                    let due: i64 = conn.query_row(
                        "SELECT coalesce(sum(amount), 0) FROM creator_payouts \
                         WHERE creator = ?1 AND paid_at IS NULL",
                        [person.as_bytes()],
                        |row| row.get(0),
                    )?;
                    assert_eq!(balance(conn, Book::Earnings(*person), Currency::Usd)?, due);
                    let leaving: i64 = conn.query_row(
                        "SELECT coalesce(sum(amount), 0) FROM withdrawals \
                         WHERE account = ?1 AND state = 'requested'",
                        [person.as_bytes()],
                        |row| row.get(0),
                    )?;
                    assert_eq!(
                        balance(conn, Book::Payouts(*person), Currency::Tokens)?,
                        leaving
                    );
                }
                Ok(())
            })
            .unwrap();
    }
}

/// Returns a configuration with this number of cases, unless `PROPTEST_CASES` sets another.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() {
        default
    } else {
        ProptestConfig { cases, ..default }
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn the_books_balance_after_anything(acts in prop::collection::vec(acts(), 1..40)) {
        let market = Market::open();
        for act in &acts {
            market.act(act);
            market.check();
        }
    }
}

#[test]
fn an_entry_that_does_not_balance_or_overdraws_is_not_written() {
    let market = Market::open();
    let wallet = Book::Wallet(market.people[0]);
    let write = |postings: &[Posting]| {
        market
            .store
            .write(|tx| tx.post(Uuid::from_bytes([1; 16]), "test", postings))
    };
    let lopsided = [Posting {
        book: wallet,
        currency: Currency::Usd,
        amount: 5,
    }];
    assert!(matches!(write(&lopsided), Err(Error::Internal(_))));
    let overdrawn = transfer(wallet, Book::Revenue, Currency::Usd, 1);
    assert!(matches!(write(&overdrawn), Err(Error::PaymentRequired(_))));
    let left: i64 = market
        .store
        .read(|conn| {
            Ok(conn.query_row("SELECT count(*) FROM ledger_entries", [], |row| row.get(0))?)
        })
        .unwrap();
    assert_eq!(left, 0);
}
