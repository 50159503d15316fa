//! Accounts that administer others: what they do, what they are refused, and what is written down.

use super::identity::service_caller;
use super::world::{Caller, World};
use axum::http::Method;
use cairn_server::{AccountCondition, AccountOverview, Options, Session, openapi};
use cairn_wire::Page;
use cairn_wire::account::{AccountState, AccountStatus, Quota};
use cairn_wire::admin::{AdminAction, AdminEvent, InvitedAccount, ReportOverview};
use cairn_wire::notifications::Notification;
use cairn_wire::social::{Report, ReportState};
use serde_json::{Value, json};

const OWNER: &str = "owner@example.com";
const MEMBER: &str = "member@example.com";

/// A server on which owner administers the others.
pub(super) fn world() -> World {
    let world = World::new();
    world.app.set_user_admin(OWNER, true).unwrap();
    world
}

/// The path of member's account, with what stands below it.
async fn of_member(world: &World, below: &str) -> String {
    format!(
        "/api/v1/admin/accounts/{}{below}",
        world.member().id().await
    )
}

async fn events(admin: &Caller) -> Vec<AdminEvent> {
    let page: Page<AdminEvent> = admin.get("/api/v1/admin/events").await.ok();
    page.content
}

/// The operations under `/admin`, with the ids of an account and an example of the body.
async fn operations(world: &World) -> Vec<(Method, String, Value)> {
    let id = world.member().id().await.to_string();
    let document = openapi::document();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        if !path.starts_with("/api/v1/admin/") {
            continue;
        }
        for (method, operation) in item.as_object().unwrap() {
            let body = operation.pointer("/requestBody/content/application~1json/example");
            let path = path.replace("{id}", &id).replace("{session}", &id);
            let method = method.to_uppercase().parse().unwrap();
            found.push((method, path, body.cloned().unwrap_or_default()));
        }
    }
    assert!(found.len() > 10, "{} operations", found.len());
    found
}

async fn refused_everywhere(world: &World, caller: &Caller) {
    for (method, path, body) in operations(world).await {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let response = caller.send(method.clone(), &path, &[], body).await;
        assert_eq!(response.status, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn whoever_is_no_administrator_is_refused() {
    let world = world();
    refused_everywhere(&world, &world.member()).await;
    refused_everywhere(&world, &world.outsider()).await;
    world.app.set_user_admin(OWNER, false).unwrap();
    refused_everywhere(&world, &world.owner()).await;
    world.member().get("/api/v1/nodes").await.done(200);
}

#[tokio::test]
async fn a_token_that_was_handed_on_administers_nothing() {
    let world = world();
    for scope in ["files", "files.read"] {
        refused_everywhere(&world, &service_caller(&world, scope).await).await;
    }
}

#[tokio::test]
async fn accounts_are_listed_page_by_page_and_shown() {
    let world = world();
    let owner = world.owner();
    let path = "/api/v1/admin/accounts?page_size=2&page=";
    let first: Page<AccountOverview> = owner.get(&format!("{path}1")).await.ok();
    let second: Page<AccountOverview> = owner.get(&format!("{path}2")).await.ok();
    assert_eq!((first.total_elements, first.total_pages), (3, 2));
    let all = [first.content, second.content].concat();
    let emails: Vec<&str> = all.iter().map(|one| one.email.as_str()).collect();
    assert_eq!(emails, [MEMBER, "outsider@example.com", OWNER]);
    assert_eq!(all, world.app.users().unwrap());
    assert!(all[2].admin && !all[0].admin);
    let shown: AccountOverview = owner.get(&of_member(&world, "").await).await.ok();
    assert_eq!(shown, all[0]);
    let nobody = "/api/v1/admin/accounts/00000000-0000-4000-8000-000000000001";
    owner.get(nobody).await.failed(404);
    owner
        .post(&format!("{nobody}/disable"), &json!({}))
        .await
        .failed(404);
    owner.get(&format!("{nobody}/sessions")).await.failed(404);
}

#[tokio::test]
async fn an_account_is_switched_off_and_on_and_both_are_written_down() {
    let world = world();
    let owner = world.owner();
    let disable = of_member(&world, "/disable").await;
    let enable = of_member(&world, "/enable").await;
    let member = world.member().id().await;
    let off: AccountOverview = owner.post(&disable, &json!({})).await.ok();
    assert_eq!(off.state, AccountCondition::Disabled);
    // What is so already is nothing to write down.
    owner.post(&disable, &json!({})).await.done(200);
    world.member().get("/api/v1/nodes").await.failed(403);
    let on: AccountOverview = owner.post(&enable, &json!({})).await.ok();
    assert_eq!(on.state, AccountCondition::Active);
    owner.post(&enable, &json!({})).await.done(200);
    world.member().get("/api/v1/nodes").await.done(200);

    let log = events(&owner).await;
    let actions: Vec<AdminAction> = log.iter().map(|one| one.action).collect();
    assert_eq!(
        actions,
        [
            AdminAction::Enabled,
            AdminAction::Disabled,
            AdminAction::AdminMade
        ]
    );
    assert_eq!(log[0].account, Some(member));
    assert_eq!(log[0].email.as_deref(), Some(MEMBER));
    assert_eq!(log[0].by, Some(owner.id().await));
    assert_eq!(log[0].by_email.as_deref(), Some(OWNER));
    // The command line gave the role.
    assert_eq!((log[2].by, log[2].email.as_deref()), (None, Some(OWNER)));
}

#[tokio::test]
async fn a_quota_changes_as_far_as_it_is_given() {
    let world = world();
    let owner = world.owner();
    let path = of_member(&world, "/quota").await;
    let before: Quota = world
        .member()
        .get("/api/v1/userusage/quota-limit")
        .await
        .ok();
    let new = json!({"storage_limit": 7000, "file_count_limit": 5});
    let shown: AccountOverview = owner.put(&path, &new).await.ok();
    assert_eq!((shown.storage_limit, shown.file_count_limit), (7000, 5));
    let after: Quota = world
        .member()
        .get("/api/v1/userusage/quota-limit")
        .await
        .ok();
    assert_eq!(after.storage_limit, 7000);
    assert_eq!(after.bandwidth_limit, before.bandwidth_limit);
    assert_eq!(events(&owner).await[0].data["storage_limit"], 7000);
    owner
        .put(&path, &json!({"storage_limit": -1}))
        .await
        .failed(400);
    owner
        .put(
            &path,
            &json!({"storage_limit": 9_300_000_000_000_000_000_u64}),
        )
        .await
        .failed(400);
    let count = events(&owner).await.len();
    owner.put(&path, &json!({})).await.done(200);
    assert_eq!(events(&owner).await.len(), count, "nothing was changed");
}

#[tokio::test]
async fn administrators_are_changed_on_the_command_line_alone() {
    let world = world();
    world.app.set_user_admin(MEMBER, true).unwrap();
    let (own, other) = (world.owner().id().await, world.member().id().await);
    let log = events(&world.owner()).await.len();
    for id in [own, other] {
        let at = format!("/api/v1/admin/accounts/{id}");
        let owner = world.owner();
        let nothing = json!({});
        owner.delete(&at).await.failed(403);
        owner
            .post(&format!("{at}/disable"), &nothing)
            .await
            .failed(403);
        owner
            .post(&format!("{at}/enable"), &nothing)
            .await
            .failed(403);
        owner
            .put(&format!("{at}/quota"), &nothing)
            .await
            .failed(403);
        let password = json!({"password": "a new secret"});
        owner
            .put(&format!("{at}/password"), &password)
            .await
            .failed(403);
        owner
            .delete(&format!("{at}/second-factor"))
            .await
            .failed(403);
        owner.delete(&format!("{at}/sessions")).await.failed(403);
        owner
            .delete(&format!("{at}/sessions/{own}"))
            .await
            .failed(403);
        owner.get(&at).await.done(200);
    }
    assert_eq!(events(&world.owner()).await.len(), log);
}

#[tokio::test]
async fn logins_are_listed_and_ended() {
    let world = world();
    let owner = world.owner();
    let one = super::identity::log_in_as(&world, MEMBER, "member").await;
    let two = super::identity::log_in_as(&world, MEMBER, "member").await;
    let three = super::identity::log_in_as(&world, MEMBER, "member").await;
    let path = of_member(&world, "/sessions").await;
    let all: Page<Session> = owner.get(&format!("{path}?page_size=2")).await.ok();
    assert_eq!((all.total_elements, all.content.len()), (3, 2));
    let alive = async || {
        let mut alive = 0;
        for tokens in [&one, &two, &three] {
            let caller = world.caller(Some(&tokens.access_token));
            alive += u8::from(caller.get("/api/v1/nodes").await.status == 200);
        }
        alive
    };
    let first = format!("{path}/{}", all.content[0].id);
    owner.delete(&first).await.done(204);
    assert_eq!(alive().await, 2);
    owner.delete(&first).await.failed(404);
    owner.delete(&path).await.done(204);
    assert_eq!(alive().await, 0);
    assert_eq!(
        events(&owner).await.len(),
        3,
        "what was refused is not written down"
    );
    world.member().get("/api/v1/nodes").await.done(200);
}

#[tokio::test]
async fn a_lost_password_is_replaced() {
    let world = world();
    let owner = world.owner();
    let before = super::identity::log_in_as(&world, MEMBER, "member").await;
    let path = of_member(&world, "/password").await;
    for wrong in [
        "seven c",
        "\u{e9}".repeat(40).as_str(),
        "password1",
        "member@example.com",
    ] {
        owner
            .put(&path, &json!({"password": wrong}))
            .await
            .failed(400);
    }
    owner
        .put(&path, &json!({"password": "a new secret"}))
        .await
        .done(204);
    let caller = world.caller(Some(&before.access_token));
    caller.get("/api/v1/nodes").await.failed(401);
    super::identity::log_in_as(&world, MEMBER, "a new secret").await;
    let factor = of_member(&world, "/second-factor").await;
    owner.delete(&factor).await.failed(404);
    assert_eq!(events(&owner).await[0].action, AdminAction::PasswordReset);
}

#[tokio::test]
async fn a_deletion_begins_and_can_be_called_off_by_its_owner() {
    let world = world();
    let path = of_member(&world, "").await;
    let status: AccountStatus = world.owner().delete(&path).await.ok();
    assert_eq!(status.status, AccountState::PendingDeletion);
    world.owner().delete(&path).await.failed(409);
    let nothing = json!({});
    world
        .member()
        .post("/api/v1/useraccount/restore", &nothing)
        .await
        .done(200);
    world.owner().delete(&path).await.done(200);
    let id = world.member().id().await;
    world.app.source().advance(60 * 24 * 3600 * 1000);
    world.app.housekeep().await.unwrap();
    // The entries are still there, and no longer say whose account it was.
    let log = events(&world.owner()).await;
    assert_eq!((log[0].account, log[0].email.as_deref()), (Some(id), None));
}

#[tokio::test]
async fn an_invitation_is_handed_over_where_no_mail_is_sent() {
    let world = world();
    let email = json!({"email": " new@example.com "});
    let path = "/api/v1/admin/invitations";
    let refused = world.owner().post(path, &email).await.failed(409);
    assert!(refused.contains("public_url"), "{refused}");

    let world = World::with(Options {
        public_url: Some("http://cairn.test".into()),
        ..Options::ephemeral()
    });
    world.app.set_user_admin(OWNER, true).unwrap();
    let owner = world.owner();
    let response = owner.post(path, &email).await;
    response.done(201);
    assert_eq!(response.header("cache-control"), "no-store");
    let invited: InvitedAccount = response.json();
    assert!(!invited.mailed);
    let link = invited.link.unwrap();
    let page = link.strip_prefix("http://cairn.test").unwrap();
    world.nobody().get(page).await.done(200);
    let log = events(&owner).await;
    assert_eq!(
        (log[0].action, log[0].account),
        (AdminAction::Invited, None)
    );
    assert_eq!(log[0].data["email"], "new@example.com");
    let known = json!({ "email": MEMBER });
    owner.post(path, &known).await.failed(409);
    owner
        .post(path, &json!({"email": "nobody"}))
        .await
        .failed(400);
}

#[tokio::test]
async fn a_report_is_read_and_answered_and_its_author_hears_of_it() {
    let world = world();
    let (owner, member, outsider) = (world.owner(), world.member(), world.outsider());
    let about = member.id().await;
    let new = json!({"user_id": about, "reason": "spam", "details": "three mails\na day"});
    let made: Report = outsider.post("/api/v1/social/reports", &new).await.ok();
    let open = "/api/v1/admin/reports?open=true";
    let page: Page<ReportOverview> = owner.get(open).await.ok();
    let [report] = &page.content[..] else {
        panic!("{page:?}");
    };
    assert_eq!((report.id, report.user_id), (made.id, about));
    assert_eq!(
        report.reporter_email.as_deref(),
        Some("outsider@example.com")
    );
    assert_eq!(
        (report.email.as_str(), report.details.as_str()),
        (MEMBER, "three mails\na day")
    );
    assert_eq!(
        (report.status, report.answered_at),
        (ReportState::Received, None)
    );

    let path = format!("/api/v1/admin/reports/{}", made.id);
    let long = json!({"status": "dismissed", "answer": "x".repeat(1001)});
    owner.put(&path, &long).await.failed(400);
    owner
        .put(&path, &json!({"status": "received"}))
        .await
        .failed(400);
    let nobody = format!("/api/v1/admin/reports/{about}");
    let answer = json!({"status": "action_taken", "answer": "The account may send no more."});
    owner.put(&nobody, &answer).await.failed(404);
    let answered: ReportOverview = owner.put(&path, &answer).await.ok();
    assert_eq!(answered.status, ReportState::ActionTaken);
    assert!(answered.answered_at.is_some());
    let page: Page<ReportOverview> = owner.get(open).await.ok();
    assert_eq!(page.total_elements, 0);
    let page: Page<ReportOverview> = owner.get("/api/v1/admin/reports").await.ok();
    assert_eq!(page.content, [answered]);

    let notifications = "/api/v1/social/notifications";
    let heard: Page<Notification> = outsider.get(notifications).await.ok();
    let title = &heard.content[0].title;
    assert!(
        title.ends_with(": The account may send no more."),
        "{title}"
    );
    let unaware: Page<Notification> = member.get(notifications).await.ok();
    assert_eq!(unaware.total_elements, 0);
    let log = events(&owner).await;
    assert_eq!(
        (log[0].action, log[0].account),
        (AdminAction::ReportAnswered, Some(about))
    );
}
