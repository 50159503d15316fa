//! Checks the numbers that keep one account from filling the database with what its storage doesn't count.

use crate::db::params;
use crate::testing;
use crate::{Actor, Clock, Limits, NewAccount, NewFolder, NewShare, ShareSettings, Source, Store};
use cairn_model::{Name, NodeId};
use cairn_wire::notifications::NotificationKind;
use cairn_wire::retention::CreateRetentionRule;
use serde_json::json;
use std::sync::Arc;

/// The numbers from 1 to the second parameter.
const NUMBERS: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(?2 AS INTEGER))";

/// An account with a folder.
fn folder() -> (Store, Actor, NodeId) {
    let clock = Clock::Virtual { start_ms: 1_000 };
    let store = testing::open(Arc::new(Source::new(clock, Some(1))));
    let new = NewAccount {
        email: "a@b.c",
        password: "hash",
        limits: Limits::default(),
    };
    let account = store.add_account(&new).unwrap();
    let actor = Actor {
        account: account.id,
        device: None,
        space: account.space,
    };
    let folder = NewFolder {
        id: None,
        parent: None,
        name: Name::new("d".to_owned()).unwrap(),
        seal: None,
    };
    let made = store.write(|tx| tx.create_folder(&actor, &folder)).unwrap();
    (store, actor, made.0.id)
}

/// Adds rows that belong to the account, as many as the statement's second parameter says.
fn add(store: &Store, actor: &Actor, count: i64, insert: &str) {
    let sql = format!("{NUMBERS} {insert}");
    let which = params![actor.account.as_bytes(), count];
    store
        .write(|tx| Ok(tx.conn.prepare(&sql)?.execute(which)?))
        .unwrap();
}

#[test]
fn an_account_has_so_many_links() {
    let (store, actor, folder) = folder();
    add(
        &store,
        &actor,
        9_999,
        "INSERT INTO shares (id, code, account, node, storage_type, is_active, access_mode, allowed_emails, notify, \
         created_at, updated_at) SELECT CAST(CAST(n AS TEXT) AS BLOB), CAST(n AS TEXT), CAST(?1 AS BLOB), x'00', \
         'VR_FOLDER', 1, 'download', '[]', 0, 0, 0 FROM numbers",
    );
    let new = NewShare {
        id: None,
        node: folder,
        storage_type: None,
        settings: ShareSettings::default(),
    };
    let make = || store.write(|tx| tx.create_share(&actor, &new));
    make().unwrap();
    let refused = make().unwrap_err().to_string();
    assert!(refused.contains("10000 share links"), "{refused}");
}

#[test]
fn an_account_has_so_many_retention_rules() {
    let (store, actor, folder) = folder();
    let new = CreateRetentionRule {
        folder_id: folder,
        delete_after_days: 1,
        name: "n".to_owned(),
    };
    let make = || store.write(|tx| tx.create_retention_rule(&actor, &new));
    for _ in 0..1_000 {
        make().unwrap();
    }
    let refused = make().unwrap_err().to_string();
    assert!(refused.contains("1000 retention rules"), "{refused}");
}

#[test]
fn a_node_has_so_many_comments() {
    let (store, actor, folder) = folder();
    add(
        &store,
        &actor,
        9_999,
        "INSERT INTO comments (id, node, account, body, created_at) SELECT CAST(CAST(n AS TEXT) AS BLOB), \
         (SELECT id FROM nodes), CAST(?1 AS BLOB), 'x', 0 FROM numbers",
    );
    let comment = || store.write(|tx| tx.add_comment(&actor, folder, None, "y"));
    comment().unwrap();
    let refused = comment().unwrap_err().to_string();
    assert!(refused.contains("10000 comments"), "{refused}");
}

#[test]
fn the_oldest_notifications_of_a_kind_go_and_those_of_others_stay() {
    let (store, actor, _) = folder();
    let account = actor.account;
    let note = |kind, title: &str| {
        store
            .write(|tx| tx.notify(account, kind, title, &json!({})))
            .unwrap();
    };
    note(NotificationKind::Security, "a login");
    note(NotificationKind::Share, "the first");
    for _ in 0..1_000 {
        note(NotificationKind::Share, "another");
    }
    let (all, count) = store.notifications(account, true, 0, 2_000).unwrap();
    assert_eq!(count, 1_001);
    let titles: Vec<&str> = all.iter().map(|one| one.title.as_str()).collect();
    assert!(titles.contains(&"a login") && !titles.contains(&"the first"));
}
