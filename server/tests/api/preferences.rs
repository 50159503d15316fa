//! Choices that an account has made, and what the composite tells of them.

use super::world::World;
use cairn_wire::account::{AccountInfo, EmailPreferences};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/useraccount/email-preferences";

#[tokio::test]
async fn preferences_change_only_where_they_are_asked_to() {
    let world = World::new();
    let owner = world.owner();
    let first: EmailPreferences = owner.get(PATH).await.ok();
    assert!(first.share_notifications && first.follow_notifications);
    assert!(first.system_announcements && !first.marketing_emails);
    let changed: EmailPreferences = owner
        .put(
            PATH,
            &json!({"follow_notifications": false, "marketing_emails": true}),
        )
        .await
        .ok();
    assert!(changed.share_notifications && !changed.follow_notifications);
    assert!(changed.marketing_emails);
    let none: EmailPreferences = owner
        .put(
            PATH,
            &json!({"unsubscribe_all": true, "share_notifications": true}),
        )
        .await
        .ok();
    assert!(!none.share_notifications && !none.system_announcements && !none.marketing_emails);
    let other: EmailPreferences = world.member().get(PATH).await.ok();
    assert_eq!(other, first);
}

#[tokio::test]
async fn a_mail_about_a_follower_goes_out_where_it_is_wanted() {
    let world = World::new();
    let (owner, member) = (world.owner(), world.member());
    owner
        .put(PATH, &json!({"follow_notifications": false}))
        .await
        .done(200);
    for user in [owner.id().await, member.id().await] {
        world
            .outsider()
            .post(&format!("/api/v1/social/follow/{user}"), &json!({}))
            .await
            .done(200);
    }
    let mails: Value = owner.get("/_dev/mail").await.ok();
    let to: Vec<_> = mails["mails"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mail| mail["to"].as_str().unwrap())
        .collect();
    assert_eq!(to, ["member@example.com"]);
}

#[tokio::test]
async fn the_composite_has_profile_tier_quota_and_settings() {
    let world = World::new();
    let info: AccountInfo = world
        .owner()
        .get("/api/v1/useraccount/composite")
        .await
        .ok();
    let profile = info.profile.unwrap();
    assert_eq!(
        (profile.user_id, profile.display_name.as_str()),
        (info.id, "owner")
    );
    let subscription = info.subscription.unwrap();
    assert_eq!(subscription.tier.storage_limit, info.usage.storage_limit);
    let settings = info.settings.unwrap();
    assert_eq!(settings.email_preferences, EmailPreferences::default());
    assert!(!settings.recovery_key_configured && info.deletion.is_none());
}
