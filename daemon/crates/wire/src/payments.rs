//! Money: subscriptions, AI tokens, the wallet, coupons, alerts, creators (`/api/v1/payment`).

use crate::{Amount, Percent, Timestamp};
use cairn_model::{AccountId, TokenPackId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The tiers of the service.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Plan {
    /// Free; what everybody begins with.
    #[default]
    Standard,
    Professional,
    Premium,
}

/// The quotas and features of a tier.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Tier {
    pub plan: Plan,
    pub name: String,
    pub price_monthly: Amount,
    pub currency: String,
    /// Bytes.
    pub storage_limit: u64,
    /// Members of each team that the account owns.
    pub team_member_limit: u64,
    /// Files that AI may classify in a month; null without a limit.
    pub ai_files_per_month: Option<u64>,
    /// AI tokens of a calendar month that cost nothing more; the next ones are taken from packs.
    #[serde(default)]
    pub ai_tokens_per_month: u64,
}

/// The state of the subscription to a tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionState {
    Active,
    /// The last charge failed; it will be tried again.
    PastDue,
}

/// Response of `GET /payment/subscriptions`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Subscription {
    pub plan: Plan,
    pub status: SubscriptionState,
    pub current_period_start: Option<Timestamp>,
    /// Null on the free tier.
    pub renews_at: Option<Timestamp>,
    /// The tier from `renews_at` on, if it is to be another one.
    pub next_plan: Option<Plan>,
    pub tier: Tier,
    /// Every tier there is.
    pub available: Vec<Tier>,
}

/// `POST /payment/subscriptions`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ChangePlan {
    pub plan: Plan,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupon: Option<String>,
}

/// Response of `GET /payment/tokens/balance`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TokenBalance {
    /// AI tokens that are left, all together: those that the plan includes this month and bought ones.
    pub balance: i64,
    /// AI tokens ever bought.
    pub purchased: i64,
    /// Bought AI tokens that were used.
    pub used: i64,
    /// Tokens that the plan includes and that are left this month; they are used before bought ones.
    #[serde(default)]
    pub included: i64,
}

/// A pack of AI tokens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TokenPack {
    /// `starter`, `standard` or `professional`.
    #[cfg_attr(feature = "utoipa", schema(value_type = String))]
    pub id: TokenPackId,
    pub name: String,
    pub tokens: i64,
    pub price: Amount,
    pub currency: String,
}

/// Response of `GET /payment/tokens/packs`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TokenPacks {
    pub packs: Vec<TokenPack>,
    /// The address of the payment.
    pub checkout_url: String,
}

/// `POST /payment/tokens/purchase`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BuyTokens {
    /// The pack's id.
    #[cfg_attr(feature = "utoipa", schema(value_type = String))]
    pub pack: TokenPackId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupon: Option<String>,
}

/// Response of `POST /payment/tokens/purchase` and `POST /payment/wallet/deposits`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// The ledger's entry.
    pub id: Uuid,
    /// The provider's name for the charge.
    pub charge_id: String,
    pub charged: Amount,
    pub currency: String,
    pub created_at: Timestamp,
}

/// Response of `GET /payment/billing-portal`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BillingPortal {
    pub url: String,
    pub expires_at: Timestamp,
}

/// Response of `GET /payment/wallet`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Wallet {
    pub fiat_balance: Amount,
    pub currency: String,
    pub token_balance: Amount,
    /// Tokens on their way out.
    pub pending_payouts: Amount,
}

/// `POST /payment/wallet/deposits`: buys wallet tokens, one for a dollar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Deposit {
    /// 0.01 to 10000.00.
    pub amount: Amount,
}

/// The way in which a coupon lowers a price.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum DiscountType {
    Percent,
    Amount,
}

/// Response of `GET /payment/coupons/{code}`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Coupon {
    pub code: String,
    pub valid: bool,
    pub discount_type: DiscountType,
    /// Percent off.
    pub percent_off: Option<i64>,
    /// Dollars off.
    pub amount_off: Option<Amount>,
    pub description: String,
    pub expires_at: Option<Timestamp>,
}

/// Response of `GET /payment/spending-alerts`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SpendingAlerts {
    /// Null without a budget.
    pub monthly_budget: Option<Amount>,
    #[cfg_attr(feature = "utoipa", schema(value_type = f64))]
    pub alert_threshold_percent: Percent,
    pub email_alerts_enabled: bool,
    pub spent_this_month: Amount,
    pub currency: String,
}

/// `PUT /payment/spending-alerts`; what is absent stays.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SetSpendingAlerts {
    /// Above zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_budget: Option<Amount>,
    /// 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<f64>))]
    pub alert_threshold_percent: Option<Percent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_alerts_enabled: Option<bool>,
}

/// `POST /payment/creator/plans`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreateCreatorPlan {
    /// 1 to 100 characters.
    pub name: String,
    /// Above zero, at most 10000.00 US dollars.
    pub price_monthly: Amount,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// An offer of a creator for a monthly price.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatorPlan {
    pub id: Uuid,
    pub creator_id: AccountId,
    pub name: String,
    pub price_monthly: Amount,
    pub currency: String,
    pub description: String,
    pub subscriber_count: u64,
    pub created_at: Timestamp,
}

/// `POST /payment/creator/subscriptions`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SubscribeToCreator {
    pub plan_id: Uuid,
}

/// State of a creator subscription.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CreatorSubscriptionState {
    Active,
    /// Charged no more; access lasts until `access_until`.
    Cancelled,
    Ended,
}

/// A recurring payment to a creator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatorSubscription {
    pub id: Uuid,
    pub plan_id: Uuid,
    pub plan_name: String,
    pub creator_id: AccountId,
    pub price_monthly: Amount,
    pub currency: String,
    pub status: CreatorSubscriptionState,
    pub started_at: Timestamp,
    /// The end of the period that is paid for.
    pub access_until: Timestamp,
    pub cancelled_at: Option<Timestamp>,
}

/// Response of `GET /payment/creator/earnings`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatorEarnings {
    /// Ever earned from subscriptions.
    pub total: Amount,
    /// Income of periods that still run.
    pub pending: Amount,
    /// Already in the wallet.
    pub paid_out: Amount,
    pub subscriber_count: u64,
    pub currency: String,
}

/// `POST /payment/withdrawals`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RequestWithdrawal {
    /// 0.01 to 100000.00 tokens.
    pub amount: Amount,
}

/// State of a withdrawal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WithdrawalState {
    Requested,
    Paid,
}

/// Tokens that leave the wallet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Withdrawal {
    pub id: Uuid,
    pub amount: Amount,
    pub status: WithdrawalState,
    pub requested_at: Timestamp,
    pub paid_at: Option<Timestamp>,
}
