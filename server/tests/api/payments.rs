//! Checks what is charged, credited and paid out, and when.

use super::identity::service_caller;
use super::world::{Caller, World};
use cairn_wire::account::Quota;
use cairn_wire::notifications::Notification;
use cairn_wire::payments::{
    BillingPortal, Coupon, CreatorEarnings, CreatorPlan, CreatorSubscription,
    CreatorSubscriptionState, Plan, Receipt, SpendingAlerts, Subscription, TokenBalance,
    TokenPacks, Wallet, Withdrawal, WithdrawalState,
};
use cairn_wire::{Page, Percent};
use serde_json::{Value, json};
use uuid::Uuid;

const DAY_MS: u64 = 24 * 3600 * 1000;

async fn wait(who: &Caller, days: u64) {
    who.post("/_dev/clock/advance", &json!({"ms": days * DAY_MS}))
        .await
        .done(200);
}

async fn subscription(who: &Caller) -> Subscription {
    who.get("/api/v1/payment/subscriptions/").await.ok()
}

async fn wallet(who: &Caller) -> Wallet {
    who.get("/api/v1/payment/wallet").await.ok()
}

/// Somebody whose card is always declined.
fn poor_caller(world: &World) -> Caller {
    world
        .app
        .add_user("poor+declined@example.com", "x")
        .unwrap();
    let key = world
        .app
        .create_api_key("poor+declined@example.com")
        .unwrap();
    world.caller(Some(&key))
}

#[tokio::test]
async fn a_dearer_tier_holds_at_once_and_a_cheaper_one_from_the_renewal() {
    let world = World::new();
    let owner = world.owner();
    let free = subscription(&owner).await;
    assert_eq!((free.plan, free.renews_at), (Plan::Standard, None));
    assert_eq!(free.available.len(), 3);
    let path = "/api/v1/payment/subscriptions";
    let paid: Subscription = owner.post(path, &json!({"plan": "premium"})).await.ok();
    assert_eq!(paid.plan, Plan::Premium);
    assert_eq!(
        paid.renews_at.unwrap().to_string(),
        "2026-01-31T00:00:00.000Z"
    );
    let quota: Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
    assert_eq!(quota.storage_limit, paid.tier.storage_limit);
    let lowered: Subscription = owner
        .post(path, &json!({"plan": "professional"}))
        .await
        .ok();
    assert_eq!(
        (lowered.plan, lowered.next_plan),
        (Plan::Premium, Some(Plan::Professional))
    );
    let kept: Subscription = owner.post(path, &json!({"plan": "premium"})).await.ok();
    assert_eq!(kept.next_plan, None);
    owner
        .post(path, &json!({"plan": "standard"}))
        .await
        .done(200);
    wait(&owner, 29).await;
    assert_eq!(subscription(&owner).await.plan, Plan::Premium);
    wait(&owner, 1).await;
    let ended = subscription(&owner).await;
    assert_eq!((ended.plan, ended.renews_at), (Plan::Standard, None));
    let quota: Quota = owner.get("/api/v1/userusage/quota-limit").await.ok();
    assert_eq!(quota.storage_limit, free.tier.storage_limit);
    owner.post(path, &json!({"plan": "gold"})).await.failed(400);
}

#[tokio::test]
async fn a_subscription_renews_and_a_declined_card_never_gets_one() {
    let world = World::new();
    let owner = world.owner();
    let path = "/api/v1/payment/subscriptions";
    owner
        .post(path, &json!({"plan": "professional"}))
        .await
        .done(200);
    wait(&owner, 31).await;
    let renewed = subscription(&owner).await;
    assert_eq!(renewed.plan, Plan::Professional);
    assert_eq!(
        renewed.renews_at.unwrap().to_string(),
        "2026-03-02T00:00:00.000Z"
    );
    let alerts: SpendingAlerts = owner.get("/api/v1/payment/spending-alerts").await.ok();
    assert_eq!(alerts.spent_this_month.to_string(), "9.99");
    let poor = poor_caller(&world);
    poor.post(path, &json!({"plan": "premium"}))
        .await
        .failed(402);
    assert_eq!(subscription(&poor).await.plan, Plan::Standard);
}

#[tokio::test]
async fn packs_of_tokens_are_listed_and_credited() {
    let world = World::new();
    let owner = world.owner();
    let packs: TokenPacks = owner.get("/api/v1/payment/tokens/packs").await.ok();
    let published: Vec<_> = packs
        .packs
        .iter()
        .map(|pack| (pack.id.as_str(), pack.tokens, pack.price.to_string()))
        .collect();
    assert_eq!(
        published,
        [
            ("starter", 500, "4.99".to_owned()),
            ("standard", 2000, "14.99".to_owned()),
            ("professional", 10_000, "49.99".to_owned())
        ]
    );
    let path = "/api/v1/payment/tokens/purchase";
    let response = owner.post(path, &json!({"pack": "standard"})).await;
    response.done(201);
    let receipt: Receipt = response.ok();
    assert_eq!(receipt.charged.to_string(), "14.99");
    assert!(receipt.charge_id.starts_with("ch_"));
    let balance: TokenBalance = owner.get("/api/v1/payment/tokens/balance").await.ok();
    assert_eq!(
        (
            balance.balance,
            balance.included,
            balance.purchased,
            balance.used
        ),
        (2500, 500, 2000, 0)
    );
    owner.post(path, &json!({"pack": "huge"})).await.failed(400);
    let poor = poor_caller(&world);
    poor.post(path, &json!({"pack": "starter"}))
        .await
        .failed(402);
    let none: TokenBalance = poor.get("/api/v1/payment/tokens/balance").await.ok();
    assert_eq!((none.balance, none.purchased), (none.included, 0));
}

#[tokio::test]
async fn a_coupon_lowers_a_price_once() {
    let world = World::new();
    let owner = world.owner();
    let coupon: Coupon = owner.get("/api/v1/payment/coupons/welcome10").await.ok();
    assert_eq!(
        (coupon.code.as_str(), coupon.percent_off),
        ("WELCOME10", Some(10))
    );
    assert!(coupon.valid && coupon.expires_at.is_none());
    owner.get("/api/v1/payment/coupons/NONE").await.failed(404);
    owner
        .get("/api/v1/payment/coupons/EXPIRED")
        .await
        .failed(410);
    owner
        .get(&format!("/api/v1/payment/coupons/{}", "x".repeat(51)))
        .await
        .failed(400);
    let path = "/api/v1/payment/tokens/purchase";
    let bought: Receipt = owner
        .post(path, &json!({"pack": "starter", "coupon": "WELCOME10"}))
        .await
        .ok();
    assert_eq!(bought.charged.to_string(), "4.50");
    owner
        .post(path, &json!({"pack": "starter", "coupon": "Welcome10"}))
        .await
        .failed(409);
    // Five dollars off what costs less: nothing is left to charge.
    let bought: Receipt = owner
        .post(path, &json!({"pack": "starter", "coupon": "SAVE5"}))
        .await
        .ok();
    assert_eq!(bought.charged.to_string(), "0.00");
    // A coupon that could not be used is not used up.
    let poor = poor_caller(&world);
    poor.post(path, &json!({"pack": "starter", "coupon": "WELCOME10"}))
        .await
        .failed(402);
    poor.get("/api/v1/payment/coupons/WELCOME10")
        .await
        .done(200);
    owner
        .post(
            "/api/v1/payment/subscriptions",
            &json!({"plan": "standard", "coupon": "WELCOME10"}),
        )
        .await
        .failed(400);
}

#[tokio::test]
async fn a_budget_raises_one_alert_a_month() {
    let world = World::new();
    let owner = world.owner();
    let path = "/api/v1/payment/spending-alerts";
    let first: SpendingAlerts = owner.get(path).await.ok();
    assert_eq!(
        (first.monthly_budget, first.alert_threshold_percent),
        (None, Percent(8_000))
    );
    let set: SpendingAlerts = owner.put(path, &json!({"monthly_budget": 10})).await.ok();
    assert_eq!(set.monthly_budget.unwrap().to_string(), "10.00");
    let set: SpendingAlerts = owner
        .put(path, &json!({"alert_threshold_percent": 90.5}))
        .await
        .ok();
    assert_eq!(
        (
            set.monthly_budget.unwrap().to_string().as_str(),
            set.alert_threshold_percent
        ),
        ("10.00", Percent(9_050))
    );
    let shown: Value = owner.get(path).await.ok();
    assert_eq!(shown["alert_threshold_percent"], 90.5);
    let buy = json!({"pack": "starter"});
    let alerts = async || -> u64 {
        let notified: Page<Notification> = owner.get("/api/v1/social/notifications").await.ok();
        notified.total_elements
    };
    for (bought, expected) in [(1, 0), (2, 1), (3, 1)] {
        owner
            .post("/api/v1/payment/tokens/purchase", &buy)
            .await
            .done(201);
        assert_eq!(alerts().await, expected, "after {bought} packs");
    }
    let mails: Value = owner.get("/_dev/mail").await.ok();
    assert_eq!(mails["mails"].as_array().unwrap().len(), 1);
    // A new month, in which the mail has gone with its time, and no other is sent.
    owner
        .put(path, &json!({"email_alerts_enabled": false}))
        .await
        .done(200);
    wait(&owner, 31).await;
    for _ in 0..2 {
        owner
            .post("/api/v1/payment/tokens/purchase", &buy)
            .await
            .done(201);
    }
    assert_eq!(alerts().await, 2);
    let mails: Value = owner.get("/_dev/mail").await.ok();
    assert_eq!(mails["mails"], json!([]));
    for bad in [
        json!({"monthly_budget": 0}),
        json!({"monthly_budget": "-1"}),
        json!({"alert_threshold_percent": 0}),
        json!({"alert_threshold_percent": 0.9}),
        json!({"alert_threshold_percent": 100.5}),
    ] {
        owner.put(path, &bad).await.failed(400);
    }
}

#[tokio::test]
async fn a_creator_is_paid_when_the_period_is_over() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let plans: Page<CreatorPlan> = member.get("/api/v1/payment/creator/plans").await.ok();
    let plan = plans.content[0].id;
    let path = "/api/v1/payment/creator/subscriptions";
    member
        .post(path, &json!({"plan_id": plan}))
        .await
        .failed(400);
    let response = owner.post(path, &json!({"plan_id": plan})).await;
    response.done(201);
    let mine: CreatorSubscription = response.ok();
    assert_eq!(mine.status, CreatorSubscriptionState::Active);
    assert_eq!(mine.access_until.to_string(), "2026-01-31T00:00:00.000Z");
    owner
        .post(path, &json!({"plan_id": plan}))
        .await
        .failed(409);
    owner
        .post(path, &json!({"plan_id": Uuid::new_v4()}))
        .await
        .failed(404);
    let earnings =
        async || -> CreatorEarnings { member.get("/api/v1/payment/creator/earnings").await.ok() };
    let now = earnings().await;
    assert_eq!((now.total.0, now.pending.0, now.paid_out.0), (500, 500, 0));
    assert_eq!(now.subscriber_count, 1);
    wait(&owner, 30).await;
    let now = earnings().await;
    assert_eq!(
        (now.total.0, now.pending.0, now.paid_out.0),
        (1000, 500, 500)
    );
    assert_eq!(wallet(&member).await.fiat_balance.to_string(), "5.00");
}

#[tokio::test]
async fn a_cancelled_subscription_lasts_to_the_end_of_its_period() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let creator = member.id().await;
    let plans: Page<CreatorPlan> = member.get("/api/v1/payment/creator/plans").await.ok();
    let body = json!({"plan_id": plans.content[0].id});
    let offered = format!("/api/v1/payment/creator/plans/{}", plans.content[0].id);
    let offered: CreatorPlan = owner.get(&offered).await.ok();
    assert_eq!(offered.price_monthly, plans.content[0].price_monthly);
    assert_eq!(offered.creator_id, creator);
    let path = "/api/v1/payment/creator/subscriptions";
    let one = format!("{path}/{creator}");
    owner.delete(&one).await.failed(404);
    owner.post(path, &body).await.done(201);
    let cancelled: CreatorSubscription = owner.delete(&one).await.ok();
    assert_eq!(cancelled.status, CreatorSubscriptionState::Cancelled);
    assert_eq!(
        cancelled.access_until.to_string(),
        "2026-01-31T00:00:00.000Z"
    );
    owner.delete(&one).await.failed(409);
    // Subscribing again within the period goes on without a second charge.
    let back: CreatorSubscription = owner.post(path, &body).await.ok();
    assert_eq!(
        (back.id, back.status),
        (cancelled.id, CreatorSubscriptionState::Active)
    );
    owner.delete(&one).await.done(200);
    wait(&owner, 30).await;
    let all: Page<CreatorSubscription> = owner.get(path).await.ok();
    assert_eq!(all.content[0].status, CreatorSubscriptionState::Ended);
    let earned: CreatorEarnings = member.get("/api/v1/payment/creator/earnings").await.ok();
    assert_eq!((earned.total.0, earned.subscriber_count), (500, 0));
}

#[tokio::test]
async fn creator_plans_have_bounds() {
    let world = World::new();
    let outsider = world.outsider();
    let path = "/api/v1/payment/creator/plans";
    outsider
        .post(path, &json!({"name": "Fan", "price_monthly": "0.01"}))
        .await
        .done(201);
    for bad in [
        json!({"name": "", "price_monthly": "1.00"}),
        json!({"name": "x".repeat(101), "price_monthly": "1.00"}),
        json!({"name": "x", "price_monthly": "0.00"}),
        json!({"name": "x", "price_monthly": "ten"}),
        json!({"name": "x", "price_monthly": "1.00", "description": "x".repeat(501)}),
    ] {
        outsider.post(path, &bad).await.failed(400);
    }
    let plans: Page<CreatorPlan> = outsider.get(path).await.ok();
    assert_eq!(plans.total_elements, 1);
}

#[tokio::test]
async fn a_withdrawal_leaves_the_wallet_at_once_and_is_paid_later() {
    let world = World::new();
    let owner = world.owner();
    let path = "/api/v1/payment/withdrawals";
    let response = owner.post(path, &json!({"amount": "60.00"})).await;
    response.done(201);
    let asked: Withdrawal = response.ok();
    assert_eq!(
        (asked.status, asked.paid_at),
        (WithdrawalState::Requested, None)
    );
    let now = wallet(&owner).await;
    assert_eq!(
        (
            now.token_balance.to_string(),
            now.pending_payouts.to_string()
        ),
        ("40.00".to_owned(), "60.00".to_owned())
    );
    owner
        .post(path, &json!({"amount": "40.01"}))
        .await
        .failed(402);
    wait(&owner, 1).await;
    let all: Page<Withdrawal> = owner.get(path).await.ok();
    assert_eq!(all.content[0].status, WithdrawalState::Paid);
    assert_eq!(wallet(&owner).await.pending_payouts.0, 0);
    for bad in ["0.00", "100000.01", "-5", "1.001", "all"] {
        owner.post(path, &json!({"amount": bad})).await.failed(400);
    }
    owner
        .post(
            "/api/v1/payment/wallet/deposits",
            &json!({"amount": "5.00"}),
        )
        .await
        .done(201);
    assert_eq!(wallet(&owner).await.token_balance.to_string(), "45.00");
}

#[tokio::test]
async fn the_billing_portal_is_a_page_for_an_hour() {
    let world = World::new();
    let owner = world.owner();
    let portal: BillingPortal = owner.get("/api/v1/payment/billing-portal").await.ok();
    let path = portal.url.strip_prefix("http://cairn.test").unwrap();
    let nobody = world.nobody();
    let page = nobody.get(path).await;
    page.done(200);
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(text.contains("owner@example.com") && text.contains("Standard"));
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    let bought = nobody
        .send(
            axum::http::Method::POST,
            &format!("{path}/tokens"),
            &[("content-type", "application/x-www-form-urlencoded")],
            "pack=starter",
        )
        .await;
    bought.done(303);
    let balance: TokenBalance = owner.get("/api/v1/payment/tokens/balance").await.ok();
    assert_eq!((balance.balance, balance.purchased), (1000, 500));
    world.app.source().advance(3600 * 1000);
    nobody.get(path).await.failed(410);
    nobody.get("/billing/nonsense").await.failed(410);
}

#[tokio::test]
async fn the_billing_portal_ends_with_the_use_of_the_account() {
    let world = World::new();
    let (owner, nobody) = (world.owner(), world.nobody());
    let portal: BillingPortal = owner.get("/api/v1/payment/billing-portal").await.ok();
    let page = portal.url.strip_prefix("http://cairn.test").unwrap();
    let buy = async || {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let path = format!("{page}/tokens");
        nobody
            .send(axum::http::Method::POST, &path, &[form], "pack=starter")
            .await
    };
    let disable = |on| world.app.set_user_disabled("owner@example.com", on);
    disable(true).unwrap();
    nobody.get(page).await.failed(403);
    buy().await.failed(403);
    disable(false).unwrap();
    owner.delete("/api/v1/useraccount").await.done(200);
    nobody.get(page).await.failed(403);
    buy().await.failed(403);
    owner
        .post("/api/v1/useraccount/restore", &json!({}))
        .await
        .done(200);
    nobody.get(page).await.done(200);
    world.app.delete_user("owner@example.com").await.unwrap();
    nobody.get(page).await.failed(410);
    buy().await.failed(410);
}

#[tokio::test]
async fn a_token_that_was_handed_on_gets_no_address_of_the_portal() {
    let world = World::new();
    let service = service_caller(&world, "files").await;
    for path in ["billing-portal", "tokens/packs"] {
        let path = format!("/api/v1/payment/{path}");
        service.get(&path).await.failed(403);
        world.owner().get(&path).await.done(200);
    }
    service.get("/api/v1/payment/wallet").await.done(200);
}

#[tokio::test]
async fn an_account_out_of_use_is_charged_nothing_and_goes_on_where_it_comes_back() {
    let world = World::new();
    let owner = world.owner();
    let path = "/api/v1/payment/subscriptions";
    let alerts = "/api/v1/payment/spending-alerts";
    let charged = async || -> String {
        let alerts: SpendingAlerts = owner.get(alerts).await.ok();
        alerts.spent_this_month.to_string()
    };
    let body = json!({"plan": "professional"});
    owner.post(path, &body).await.done(200);
    let account = "/api/v1/useraccount";
    owner.delete(account).await.done(200);
    wait(&owner, 45).await;
    assert_eq!(charged().await, "0.00", "February");
    let restore = format!("{account}/restore");
    owner.post(&restore, &json!({})).await.done(200);
    wait(&owner, 0).await;
    let now = subscription(&owner).await;
    assert_eq!(now.plan, Plan::Professional);
    assert_eq!(
        now.renews_at.unwrap().to_string(),
        "2026-03-17T00:00:00.000Z"
    );
    assert_eq!(charged().await, "9.99", "one period, from now on");

    world
        .app
        .set_user_disabled("owner@example.com", true)
        .unwrap();
    wait(&world.member(), 65).await;
    world
        .app
        .set_user_disabled("owner@example.com", false)
        .unwrap();
    assert_eq!(charged().await, "0.00", "April");
    wait(&owner, 0).await;
    assert_eq!(charged().await, "9.99");
}

#[tokio::test]
async fn what_an_account_out_of_use_pays_a_creator_ends_with_its_period() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    let plans: Page<CreatorPlan> = member.get("/api/v1/payment/creator/plans").await.ok();
    let body = json!({"plan_id": plans.content[0].id});
    let path = "/api/v1/payment/creator/subscriptions";
    owner.post(path, &body).await.done(201);
    owner.delete("/api/v1/useraccount").await.done(200);
    wait(&owner, 30).await;
    let all: Page<CreatorSubscription> = owner.get(path).await.ok();
    assert_eq!(all.content[0].status, CreatorSubscriptionState::Ended);
    let earned: CreatorEarnings = member.get("/api/v1/payment/creator/earnings").await.ok();
    assert_eq!(earned.total.0, 500);
}
