//! The tiers and packs of AI tokens that the service sells, with their prices.
//!
//! Figures only; who bought what stands in the store.

use cairn_model::TokenPackId;
use cairn_wire::Amount;
use cairn_wire::payments::{Plan, Tier, TokenPack};

/// The currency of all prices.
pub const CURRENCY: &str = "USD";
/// A month of every subscription.
pub const PERIOD_MS: i64 = 30 * 24 * 3600 * 1000;

struct TierRow {
    plan: Plan,
    name: &'static str,
    cents: i64,
    /// The multiple of the server's configured limit.
    storage_factor: u64,
    members: u64,
    ai_files: Option<u64>,
    /// AI tokens of a month that cost nothing more.
    ai_tokens: u64,
}

const TIERS: [TierRow; 3] = [
    TierRow {
        plan: Plan::Standard,
        name: "Standard",
        cents: 0,
        storage_factor: 1,
        members: 10,
        ai_files: Some(100),
        ai_tokens: 500,
    },
    TierRow {
        plan: Plan::Professional,
        name: "Professional",
        cents: 999,
        storage_factor: 2,
        members: 100,
        ai_files: Some(1000),
        ai_tokens: 5_000,
    },
    TierRow {
        plan: Plan::Premium,
        name: "Premium",
        cents: 2499,
        storage_factor: 5,
        members: 1000,
        ai_files: None,
        ai_tokens: 50_000,
    },
];

/// The packs of the published tool reference.
const PACKS: [(TokenPackId, &str, i64, i64); 3] = [
    (TokenPackId::Starter, "Starter", 500, 499),
    (TokenPackId::Standard, "Standard", 2000, 1499),
    (TokenPackId::Professional, "Professional", 10_000, 4999),
];

fn row(plan: Plan) -> &'static TierRow {
    TIERS
        .iter()
        .find(|row| row.plan == plan)
        .unwrap_or(&TIERS[0])
}

/// Returns the AI tokens that a plan includes in a month.
pub(crate) fn included_ai_tokens(plan: Plan) -> u64 {
    row(plan).ai_tokens
}

/// Returns the files that a plan lets classify in a month; none: without a limit.
pub(crate) fn ai_files(plan: Plan) -> Option<u64> {
    row(plan).ai_files
}

/// A tier; `base_storage` is the configured limit of a new account, in bytes.
pub fn tier(plan: Plan, base_storage: u64) -> Tier {
    let row = row(plan);
    Tier {
        plan,
        name: row.name.to_owned(),
        price_monthly: Amount(row.cents),
        currency: CURRENCY.to_owned(),
        storage_limit: storage_limit(plan, base_storage),
        team_member_limit: row.members,
        ai_files_per_month: row.ai_files,
        ai_tokens_per_month: row.ai_tokens,
    }
}

/// Every tier, the cheapest first.
pub fn tiers(base_storage: u64) -> Vec<Tier> {
    TIERS
        .iter()
        .map(|row| tier(row.plan, base_storage))
        .collect()
}

/// Cents a period.
pub fn price(plan: Plan) -> i64 {
    row(plan).cents
}

/// Bytes.
pub fn storage_limit(plan: Plan, base_storage: u64) -> u64 {
    base_storage.saturating_mul(row(plan).storage_factor)
}

/// The number of members a team of an owner on this plan may have.
pub fn member_limit(plan: Plan) -> u64 {
    row(plan).members
}

/// All packs of AI tokens.
pub fn packs() -> Vec<TokenPack> {
    PACKS
        .iter()
        .map(|(id, name, tokens, cents)| TokenPack {
            id: *id,
            name: (*name).to_owned(),
            tokens: *tokens,
            price: Amount(*cents),
            currency: CURRENCY.to_owned(),
        })
        .collect()
}

/// The pack with an id.
pub fn pack(id: TokenPackId) -> Option<TokenPack> {
    packs().into_iter().find(|pack| pack.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_cost_what_is_published() {
        let published: Vec<_> = packs()
            .into_iter()
            .map(|pack| (pack.name, pack.tokens, pack.price.to_string()))
            .collect();
        assert_eq!(
            published,
            [
                ("Starter".to_owned(), 500, "4.99".to_owned()),
                ("Standard".to_owned(), 2000, "14.99".to_owned()),
                ("Professional".to_owned(), 10_000, "49.99".to_owned()),
            ]
        );
    }

    #[test]
    fn a_dearer_tier_gives_more() {
        let all = tiers(1000);
        assert!(all.windows(2).all(|two| {
            two[0].price_monthly < two[1].price_monthly
                && two[0].storage_limit < two[1].storage_limit
                && two[0].team_member_limit < two[1].team_member_limit
        }));
        assert_eq!(all[2].ai_files_per_month, None);
    }
}
