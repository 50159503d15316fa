//! Plan, tokens, wallet, creators.

use crate::param::{amount, flag, money, non_empty, number_in, text, uuid};
use crate::question;
use crate::tool::{Effect, Run, Tool, delete, get, post, put};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "get_subscription_info",
        "Get subscription info",
        Effect::ReadOnly,
        "Shows plan, status, renewal date and tier details.",
        &[],
        Run::Rest(get("payment/subscriptions")),
    ),
    Tool::new(
        "get_token_balance",
        "Get token balance",
        Effect::ReadOnly,
        "Shows the remaining AI tokens.",
        &[],
        Run::Rest(get("payment/tokens/balance")),
    ),
    Tool::new(
        "get_ai_usage",
        "Get AI usage",
        Effect::ReadOnly,
        "Shows AI use and cost in this billing period.",
        &[],
        Run::Rest(get("ai/usage")),
    ),
    Tool::new(
        "get_billing_portal_url",
        "Get billing portal URL",
        Effect::ReadOnly,
        "Returns the address of the billing portal, for cards and invoices.",
        &[],
        Run::Rest(get("payment/billing-portal")),
    ),
    Tool::new(
        "get_wallet_balance",
        "Get wallet balance",
        Effect::ReadOnly,
        "Shows balance, tokens and pending payouts.",
        &[],
        Run::Rest(get("payment/wallet")),
    ),
    Tool::new(
        "buy_ai_tokens",
        "Buy AI tokens",
        Effect::ReadOnly,
        "Lists the token packs and where to buy them; nothing is bought here.",
        &[],
        Run::Rest(get("payment/tokens/packs")),
    ),
    Tool::new(
        "validate_coupon",
        "Validate coupon",
        Effect::ReadOnly,
        "Shows discount and expiration date of a coupon.",
        &[non_empty("code", "Coupon").length(1, 50).required()],
        Run::Rest(get("payment/coupons/{code}")),
    ),
    Tool::new(
        "get_spending_alerts",
        "Get spending alerts",
        Effect::ReadOnly,
        "Shows budget and alerts.",
        &[],
        Run::Rest(get("payment/spending-alerts")),
    ),
    Tool::new(
        "set_spending_alerts",
        "Set spending alerts",
        Effect::IdempotentDestructive,
        "Changes budget and alerts; only given fields change.",
        &[
            amount("monthly_budget", "In your currency"),
            number_in(
                "alert_threshold_percent",
                1.0,
                100.0,
                "Percent of the budget",
            ),
            flag("email_alerts_enabled", "By email"),
        ],
        Run::Update(put("payment/spending-alerts")),
    ),
    Tool::new(
        "create_creator_plan",
        "Create creator plan",
        Effect::Additive,
        "Creates a plan that others can subscribe to.",
        &[
            non_empty("name", "Plan name").length(1, 100).required(),
            money("price_monthly", 1, u64::MAX, "Such as 4.99").required(),
            text("description", "Description of the plan").length(0, 500),
        ],
        Run::Rest(post("payment/creator/plans")),
    ),
    Tool::new(
        "list_creator_plans",
        "List creator plans",
        Effect::ReadOnly,
        "Lists your creator plans.",
        &[],
        Run::AllPages(get("payment/creator/plans")),
    ),
    Tool::new(
        "subscribe_to_creator",
        "Subscribe to creator",
        Effect::Destructive,
        "Starts a recurring payment to a creator. Costs money.",
        &[uuid("plan_uuid", "Plan").required()],
        Run::Rest(post("payment/creator/subscriptions").renamed(&[("plan_uuid", "plan_id")])),
    )
    .confirmed_with(question::subscribe),
    Tool::new(
        "cancel_creator_subscription",
        "Cancel creator subscription",
        Effect::IdempotentDestructive,
        "Cancels a subscription; access lasts to the end of the period.",
        &[uuid("creator_id", "Creator").required()],
        Run::Rest(
            delete("payment/creator/subscriptions/{creator_id}")
                .success_message("the subscription is cancelled"),
        ),
    ),
    Tool::new(
        "get_creator_earnings",
        "Get creator earnings",
        Effect::ReadOnly,
        "Shows earnings, payouts and subscriber count.",
        &[],
        Run::Rest(get("payment/creator/earnings")),
    ),
    Tool::new(
        "request_token_withdrawal",
        "Request token withdrawal",
        Effect::Destructive,
        "Withdraws earnings: requests a payout, which is processed later.",
        &[money("amount", 1, 10_000_000, "0.01 to 100000.00").required()],
        Run::Rest(post("payment/withdrawals")),
    )
    .confirmed_with(question::withdraw),
];
