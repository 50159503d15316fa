//! End-to-end test of two people who call each tool of the MCP server once.

use crate::mcp::lockdown;
use crate::mcp::session::Session;
use crate::mcp::world::{PASSPHRASE, Setup, World, with_passphrase};
use cairn_api::Method;
use cairn_mcp::ForeignTexts;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A session that remembers what was called, and one in lockdown that looks at the same.
struct Person {
    session: Session,
    locked: Session,
    called: BTreeSet<String>,
}

impl Person {
    async fn new(world: &World, setup: Setup) -> Self {
        let locked = Setup {
            key: setup.key,
            passphrase: setup.passphrase,
            foreign_texts: ForeignTexts::Withheld,
            ..Setup::default()
        };
        Self {
            locked: world.session(locked).await,
            session: world.session(setup).await,
            called: BTreeSet::new(),
        }
    }

    async fn call_ok(&mut self, tool: &str, arguments: Value) -> Value {
        self.called.insert(tool.to_owned());
        let shown = self.session.call_ok(tool, arguments.clone()).await;
        if lockdown::looks_only(tool) {
            let locked = self.locked.call_ok(tool, arguments).await;
            lockdown::assert_only_free_texts_are_withheld(tool, &shown, &locked);
        }
        shown
    }
}

fn id(value: &Value) -> Value {
    value
        .get("id")
        .cloned()
        .unwrap_or_else(|| panic!("no id in {value}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn none_of_the_tools_is_only_a_promise() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut owner = Person::new(&world, with_passphrase()).await;
    let mut member = Person::new(
        &world,
        Setup {
            key: "ck_dev_member",
            ..Setup::default()
        },
    )
    .await;
    let file = content(&mut owner, dir.path()).await;
    files(&mut owner, &file).await;
    call_sharing_tools(&mut owner, &file).await;
    comments(&mut owner, &file).await;
    teams(&world, &mut owner, &mut member).await;
    social(&mut owner, &mut member).await;
    payments(&mut owner, &mut member).await;
    account(&world, &mut owner).await;
    for (tool, arguments) in [
        ("diagnose_upload", json!({ "file_size_bytes": 1000 })),
        ("verify_encryption_status", json!({})),
        ("check_service_health", json!({})),
        ("compute", json!({ "operation": "count", "values": [] })),
        ("generate_cli_command", json!({ "operation": "list" })),
        ("list_webhooks", json!({})),
    ] {
        owner.call_ok(tool, arguments).await;
    }
    let reference = crate::mcp::catalogue::reference();
    let missing: Vec<_> = reference
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .filter(|name| !owner.called.contains(*name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

async fn content(owner: &mut Person, dir: &std::path::Path) -> Value {
    let local = dir.join("report.txt");
    std::fs::write(&local, "quarterly figures").unwrap();
    let up = owner
        .call_ok("upload_file", json!({ "local_path": local }))
        .await;
    let file = up["file_uuid"].clone();
    let read = owner
        .call_ok("read_file_content", json!({ "file_uuid": file }))
        .await;
    assert_eq!(read["content"], "quarterly figures");
    let to = json!({ "file_uuid": file, "output_path": dir.join("copy.txt") });
    owner.call_ok("download_file", to).await;
    let folder = dir.join("photos");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.jpg"), "not a picture").unwrap();
    let up = owner
        .call_ok("upload_folder", json!({ "local_path": folder }))
        .await;
    let down = json!({ "folder_uuid": up["folder_uuid"], "output_path": dir.join("back") });
    assert_eq!(
        owner.call_ok("download_folder", down).await["downloaded"],
        1
    );
    let classify = json!({ "folder_uuid": up["folder_uuid"], "confirm_token_use": true });
    assert_eq!(
        owner.call_ok("auto_classify_folder", classify).await["classified"],
        1
    );
    file
}

async fn files(owner: &mut Person, file: &Value) {
    let found = owner
        .call_ok("search_files", json!({ "query": "report" }))
        .await;
    assert_eq!(found["totalElements"], 1, "{found}");
    let filtered = json!({
        "query": "report", "mode": "filtered", "ext": "txt", "date_from": "2000-01-01", "include_teams": true,
    });
    assert_eq!(
        owner.call_ok("search_files", filtered).await["totalElements"],
        1
    );
    owner
        .call_ok("list_files", json!({ "sort_by": "size" }))
        .await;
    owner
        .call_ok("get_file_info", json!({ "file_uuid": file }))
        .await;
    let folder = id(&owner
        .call_ok("create_folder", json!({ "name": "docs" }))
        .await);
    let nested = json!({ "path": "2026/june", "parent_uuid": folder });
    let leaf = owner.call_ok("create_nested_folders", nested).await["leaf_folder_uuid"].clone();
    owner
        .call_ok(
            "move_file",
            json!({ "file_uuid": file, "target_folder_uuid": leaf }),
        )
        .await;
    owner
        .call_ok(
            "rename_file",
            json!({ "file_uuid": file, "new_name": "final.txt" }),
        )
        .await;
    let copy = json!({ "file_uuid": file, "target_folder_uuid": folder });
    let copy = id(&owner.call_ok("copy_file", copy).await);
    owner
        .call_ok("delete_file", json!({ "file_uuid": copy }))
        .await;
    owner
        .call_ok("restore_from_trash", json!({ "file_uuid": copy }))
        .await;
    owner
        .call_ok("delete_file", json!({ "file_uuid": copy }))
        .await;
    owner.call_ok("empty_trash", json!({})).await;
    let favorite = json!({ "file_uuid": file, "action": "add" });
    owner.call_ok("favorite_file", favorite).await;
    owner
        .call_ok(
            "favorite_file",
            json!({ "file_uuid": file, "action": "remove" }),
        )
        .await;
    let described = json!({ "file_uuid": file, "description": "the last one" });
    let described = owner.call_ok("set_file_description", described).await;
    assert_eq!(described["description"], "the last one");
    let labels = json!({ "file_uuid": file, "labels": { "year": 2026 } });
    assert_eq!(
        owner.call_ok("classify_file", labels).await["labels"]["year"],
        "2026"
    );
    let versions = owner
        .call_ok("get_file_versions", json!({ "file_uuid": file }))
        .await;
    let version = json!({ "file_uuid": file, "version_id": versions["content"][0]["id"] });
    owner.call_ok("restore_file_version", version).await;
    let rule = json!({ "folder_uuid": folder, "delete_after_days": 365, "name": "a year" });
    owner.call_ok("create_retention_rule", rule).await;
}

async fn call_sharing_tools(owner: &mut Person, file: &Value) {
    let settings = json!({
        "file_uuid": file, "expiry_days": 7, "password": "open sesame", "download_limit": 3,
        "allowed_emails": ["a@example.com"], "access_mode": "view_only",
        "active_from": "2026-01-01", "active_until": "2099-01-01T00:00:00Z",
    });
    let link = owner.call_ok("create_share_link", settings).await;
    assert!(
        link["url"].as_str().unwrap().contains('#'),
        "the secret is in the address: {link}"
    );
    assert_eq!(
        (&link["has_password"], &link["download_limit"]),
        (&json!(true), &json!(3))
    );
    let code = &link["short_code"];
    let list = owner.call_ok("list_share_links", json!({})).await;
    assert_eq!(
        (&list["page"], &list["totalElements"]),
        (&json!(0), &json!(1))
    );
    let change = json!({ "short_code": code, "access_mode": "download", "password": "another" });
    assert_eq!(
        owner.call_ok("update_share_link", change).await["access_mode"],
        "download"
    );
    let toggled = owner
        .call_ok("toggle_share_link", json!({ "short_code": code }))
        .await;
    assert_eq!(
        (&toggled["previous"], &toggled["current"]),
        (&json!(true), &json!(false))
    );
    let health = owner
        .call_ok(
            "check_share_link_health",
            json!({ "short_code": link["id"] }),
        )
        .await;
    assert_eq!(health["status"], "issues_found");
    owner
        .call_ok("get_share_access_log", json!({ "short_code": code }))
        .await;
    let audit = json!({ "short_code": code, "date_from": "2026-01-01", "date_to": "2099-01-01" });
    assert!(owner.call_ok("get_share_audit_log", audit).await["summary"].is_object());
    let mailed = json!({ "file_uuid": file, "email": "friend@example.com", "view_only": true });
    assert!(owner.call_ok("share_file_by_email", mailed).await["email_sent"].is_boolean());
    let many = json!({ "file_uuids": [file, "00000000-0000-4000-8000-000000000000"] });
    let many = owner.call_ok("bulk_create_share_links", many).await;
    assert_eq!(
        (&many["total"], &many["succeeded"], &many["failed"]),
        (&json!(2), &json!(1), &json!(1)),
        "{many}"
    );
    let defaults = json!({ "default_expiry_days": 30, "notify_on_download": true });
    owner.call_ok("set_share_link_defaults", defaults).await;
    let defaults = owner.call_ok("set_share_link_defaults", json!({})).await;
    assert_eq!(defaults["notify_on_download"], true, "{defaults}");
    let looking = json!({ "default_access_mode": "view_only" });
    owner.call_ok("set_share_link_defaults", looking).await;
    let link = owner
        .call_ok("create_share_link", json!({ "file_uuid": file }))
        .await;
    assert_eq!(link["access_mode"], "view_only", "the default counts");
    let theme =
        json!({ "display_name": "Me", "accent_color": "#1A2B3C", "css_class": "theme-dark" });
    owner.call_ok("set_share_page_theme", theme).await;
    let theme = owner.call_ok("set_share_page_theme", json!({})).await;
    assert_eq!(theme["css_class"], "theme-dark");
    owner
        .call_ok("delete_share_link", json!({ "short_code": code }))
        .await;
}

async fn comments(owner: &mut Person, file: &Value) {
    let reply = json!({ "file_uuid": file, "text": "good" });
    let comment = id(&owner.call_ok("add_comment", reply).await);
    let reply = json!({ "file_uuid": file, "parent_id": comment, "text": "indeed" });
    let reply = id(&owner.call_ok("reply_to_comment", reply).await);
    let all = owner
        .call_ok("list_comments", json!({ "file_uuid": file }))
        .await;
    assert_eq!(all["total"], 2, "{all}");
    owner
        .call_ok("delete_comment", json!({ "comment_id": reply }))
        .await;
    let hook = json!({ "url": "https://example.com/hook", "events": ["file.uploaded"] });
    let hook = owner.call_ok("create_webhook", hook).await;
    owner
        .call_ok("delete_webhook", json!({ "webhook_id": id(&hook) }))
        .await;
}

async fn teams(world: &World, owner: &mut Person, member: &mut Person) {
    let team = id(&owner
        .call_ok("create_team", json!({ "name": "Five" }))
        .await);
    owner.call_ok("list_teams", json!({})).await;
    let user = id(&member.call_ok("get_account_info", json!({})).await);
    for last in ["remove_team_member", "offboard_team_member"] {
        let invite = json!({ "team_uuid": team, "email": "member@example.com" });
        let invitation = id(&owner.call_ok("invite_team_member", invite).await);
        let path = format!("teams/invitations/{}/accept", invitation.as_str().unwrap());
        world
            .rest_as("ck_dev_member", Method::POST, &path, Some(json!({})))
            .await;
        let role = json!({ "team_uuid": team, "user_id": user, "role": "admin" });
        assert_eq!(
            owner.call_ok("change_member_role", role).await["role"],
            "admin"
        );
        let members = owner
            .call_ok("list_team_members", json!({ "team_uuid": team }))
            .await;
        assert_eq!(members["totalElements"], 2, "{members}");
        owner
            .call_ok(last, json!({ "team_uuid": team, "user_id": user }))
            .await;
    }
    for tool in [
        "get_team_info",
        "get_team_quota",
        "get_team_permissions",
        "get_team_storage_usage",
    ] {
        owner.call_ok(tool, json!({ "team_uuid": team })).await;
    }
}

async fn social(owner: &mut Person, member: &mut Person) {
    let user = id(&member.call_ok("get_account_info", json!({})).await);
    let me = id(&owner.call_ok("get_account_info", json!({})).await);
    let profile = owner
        .call_ok("get_profile", json!({ "user_id": user }))
        .await;
    owner
        .call_ok("update_profile", json!({ "bio": "Hello" }))
        .await;
    owner
        .call_ok("set_username", json!({ "username": "the-owner" }))
        .await;
    owner
        .call_ok("set_vanity_url", json!({ "vanity_url": "owner_1" }))
        .await;
    owner
        .call_ok("set_profile_visibility", json!({ "visibility": "public" }))
        .await;
    owner
        .call_ok("follow_user", json!({ "target_user_id": user }))
        .await;
    member
        .call_ok("follow_user", json!({ "target_user_id": me }))
        .await;
    for tool in [
        "list_followers",
        "list_following",
        "get_feed",
        "get_follow_suggestions",
    ] {
        owner.call_ok(tool, json!({})).await;
    }
    owner
        .call_ok("get_connection_status", json!({ "user_id": user }))
        .await;
    let notifications = owner
        .call_ok("get_notifications", json!({ "limit": 5 }))
        .await;
    let first = notifications["content"][0]["id"].clone();
    owner
        .call_ok(
            "mark_notification_read",
            json!({ "notification_id": first }),
        )
        .await;
    let tip =
        json!({ "tip_jar_uuid": profile["tip_jar_id"], "amount": "1.00", "message": "thanks" });
    owner.call_ok("send_tip", tip).await;
    owner.call_ok("mute_user", json!({ "user_id": user })).await;
    owner
        .call_ok("unfollow_user", json!({ "user_id": user }))
        .await;
    owner
        .call_ok("follow_users_bulk", json!({ "user_ids": [user] }))
        .await;
    let report = json!({ "user_id": user, "reason": "spam", "details": "a test" });
    owner.call_ok("report_user", report).await;
    owner
        .call_ok("block_user", json!({ "user_id": user }))
        .await;
    owner
        .call_ok("unblock_user", json!({ "user_id": user }))
        .await;
}

async fn payments(owner: &mut Person, member: &mut Person) {
    let plan = json!({ "name": "Fans", "price_monthly": "4.99" });
    let theirs = member.call_ok("create_creator_plan", plan.clone()).await;
    owner.call_ok("create_creator_plan", plan).await;
    owner
        .call_ok("subscribe_to_creator", json!({ "plan_uuid": id(&theirs) }))
        .await;
    let creator = json!({ "creator_id": theirs["creator_id"] });
    owner.call_ok("cancel_creator_subscription", creator).await;
    let alerts = json!({ "monthly_budget": 25.5, "alert_threshold_percent": 80.5 });
    let set = owner.call_ok("set_spending_alerts", alerts).await;
    assert_eq!(
        (&set["monthly_budget"], &set["alert_threshold_percent"]),
        (&json!("25.50"), &json!(80.5))
    );
    let packs = owner.call_ok("buy_ai_tokens", json!({})).await;
    assert_eq!(packs["packs"].as_array().map(Vec::len), Some(3));
    owner
        .call_ok("validate_coupon", json!({ "code": "WELCOME10" }))
        .await;
    owner
        .call_ok("request_token_withdrawal", json!({ "amount": "1.00" }))
        .await;
    for tool in [
        "get_subscription_info",
        "get_token_balance",
        "get_ai_usage",
        "get_billing_portal_url",
        "get_wallet_balance",
        "get_spending_alerts",
        "list_creator_plans",
        "get_creator_earnings",
    ] {
        owner.call_ok(tool, json!({})).await;
    }
}

async fn account(world: &World, owner: &mut Person) {
    let key = json!({ "name": "for a script", "expires_in": "30d" });
    let key = owner.call_ok("create_api_key", key).await;
    assert!(key["key"].as_str().unwrap().starts_with("ck_"));
    owner.call_ok("list_api_keys", json!({})).await;
    let me = owner.call_ok("get_account_info", json!({})).await;
    let bundle = world.rest(Method::GET, "keys", None).await;
    let bundle = cairn_space::account_keys::from_wire(&serde_json::from_value(bundle).unwrap());
    let part = |name: &str| me[name].as_str().unwrap().to_owned();
    let (account, space) = (
        part("id").parse().unwrap(),
        part("space_id").parse().unwrap(),
    );
    let (_, auth) = cairn_crypto::unlock(&bundle, PASSPHRASE, account, space).unwrap();
    let setup = json!({ "passphrase_hash": auth.to_hex() });
    let made = owner.call_ok("setup_recovery_key", setup).await;
    assert!(made["recovery_key"].is_string(), "{made}");
    owner.call_ok("check_recovery_key_status", json!({})).await;
    for tool in [
        "get_storage_usage",
        "get_encryption_audit_log",
        "get_email_preferences",
    ] {
        owner.call_ok(tool, json!({})).await;
    }
    let fewer = json!({ "marketing_emails": false });
    owner.call_ok("update_email_preferences", fewer).await;
    owner.call_ok("request_account_deletion", json!({})).await;
    owner.call_ok("restore_account", json!({})).await;
}
