//! What a development server begins with besides its accounts; `docs/server.md` lists it.

use super::Store;
use crate::error::Result;
use crate::options::Limits;
use cairn_wire::Amount;
use cairn_wire::payments::CreateCreatorPlan;
use cairn_wire::teams::TeamRole;

const DAY_MS: i64 = 24 * 3600 * 1000;

impl Store {
    /// Seeds the team of owner and member, coupons, a creator's plan and some wallet tokens.
    pub(crate) fn seed_people(&self, limits: &Limits) -> Result<()> {
        let owner = self.account_by_email("owner@example.com")?.id;
        let member = self.account_by_email("member@example.com")?.id;
        let team = self.create_team(owner, "Dev Team", limits)?.id;
        self.write(|tx| tx.join(team, member, TeamRole::Member))?;
        self.seed_coupon("WELCOME10", Some(10), None, "10 % off", None)?;
        self.seed_coupon("SAVE5", None, Some(500), "5 dollars off", None)?;
        let yesterday = self.source().now_ms() - DAY_MS;
        self.seed_coupon("EXPIRED", Some(50), None, "50 % off", Some(yesterday))?;
        self.create_creator_plan(
            member,
            &CreateCreatorPlan {
                name: "Supporter".into(),
                price_monthly: Amount(500),
                description: Some("Supports the member of the Dev Team".into()),
            },
        )?;
        self.seed_tokens(owner, Amount(10_000))
    }
}
