//! Devices: the list, shutting one out, keys that were replaced, words to compare.

use super::{Call, arguments, call, world};
use serde_json::{Value, json};

#[tokio::test]
async fn the_list_names_a_device_that_is_not_shut_out_yet() {
    let device = json!({"id": "d1", "name": "laptop", "this": true, "last_seen": null});
    let lost = json!({"id": "d2", "name": "phone"});
    let world = world(vec![
        Ok(json!({"devices": [device], "unfinished": lost})),
        Ok(json!({"devices": [device], "unfinished": null})),
    ]);
    let listed = world.commands.handle(Call::Devices {}).await.unwrap();
    assert_eq!(
        listed,
        json!({"devices": [{"id": "d1", "name": "laptop", "this": true}], "unfinished": lost})
    );
    let listed = world.commands.handle(Call::Devices {}).await.unwrap();
    assert!(listed.get("unfinished").is_none());
}

#[tokio::test]
async fn a_device_is_shut_out_with_secrets_on_the_standard_input_alone() {
    let done = json!({
        "rotated": true, "epoch": 2, "version": 3,
        "device": {"id": "d2", "name": "phone", "logins_ended": 1},
        "recovery_key": "AB-CD",
        "recovery_key_in_force": true,
        "api_keys": [
            {"id": "1", "name": "scanner", "prefix": "ck_a", "revoked": false, "this_device": false},
            {"id": "2", "name": "", "prefix": "ck_b", "revoked": false, "this_device": false},
            {"id": "3", "name": "gone", "prefix": "ck_c", "revoked": true, "this_device": false},
            {"id": "4", "name": "own", "prefix": "ck_d", "revoked": false, "this_device": true},
        ],
        "teams": [
            {"team_id": "t", "name": "Crew", "role": "owner", "key": "renewed"},
            {"team_id": "u", "name": "Band", "role": "member", "key": "ask_an_admin"},
            {"team_id": "v", "name": "Club", "role": "owner", "key": "failed"},
        ],
    });
    let mut unfinished = done.clone();
    unfinished["recovery_key_in_force"] = Value::Null;
    unfinished["failed"] = json!("no space left");
    let world = world(vec![Ok(done), Ok(unfinished)]);
    let asked = json!({"op": "revoke_device", "id": "d2", "choices": {"passphrase": "old words", "new_passphrase": "new words", "api_keys": true}});
    let reply = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(
        arguments(&world),
        [
            "devices",
            "revoke",
            "--yes",
            "--passphrase-file=-",
            "--new-passphrase-file=-",
            "--api-keys",
            "--",
            "d2"
        ]
    );
    // In the order in which the program reads them.
    assert_eq!(
        world.fake.runs.lock()[0].secrets,
        ["old words", "new words"]
    );
    assert_eq!(
        reply,
        json!({
            "recovery_key": {"key": "AB-CD", "in_force": true}, "api_keys": ["scanner", "ck_b…"],
            "teams_to_ask": ["Band"], "teams_failed": ["Club"],
        })
    );
    let asked = json!({"op": "revoke_device", "id": "d2", "choices": {"passphrase": "old words", "api_keys": false}});
    let reply = world.commands.handle(call(asked)).await.unwrap();
    assert_eq!(reply["recovery_key"]["in_force"], false);
    assert_eq!(reply["failed"], "no space left");
    assert_eq!(
        arguments(&world)[3..],
        ["--passphrase-file=-", "--keep-passphrase", "--", "d2"]
    );
}

#[tokio::test]
async fn keys_that_were_replaced_are_taken_over_with_the_passphrase() {
    let world = world(vec![Ok(json!({"updated": true, "epoch": 2}))]);
    let asked = call(json!({"op": "update_keys", "passphrase": "words"}));
    assert_eq!(world.commands.handle(asked).await.unwrap(), json!(true));
    assert_eq!(arguments(&world), ["keys", "update", "--passphrase-file=-"]);
    assert_eq!(world.fake.runs.lock()[0].secrets, ["words"]);
}

#[tokio::test]
async fn words_are_compared_for_each_space() {
    let words: Vec<_> = (0..12).map(|n| format!("word{n}")).collect();
    let document = json!({"in_sync": false, "spaces": [
        {"space_id": "s", "team": null, "sealed": 5, "unsealed": 0, "words": words,
         "last_change": {"at": "2026-01-02T03:04:05.000Z", "device_id": "d", "device": "desk"}},
        {"space_id": "t", "team": "Crew", "sealed": 1, "unsealed": 2, "words": words, "last_change": null},
    ]});
    let world = world(vec![Ok(document)]);
    let compared = world.commands.handle(Call::Compare {}).await.unwrap();
    assert_eq!(arguments(&world), ["compare"]);
    assert_eq!(compared["in_sync"], false);
    let spaces = &compared["spaces"];
    assert_eq!(
        (&spaces[0]["words"], &spaces[0]["last_change"]["device"]),
        (&json!(words), &json!("desk"))
    );
    assert!(spaces[0].get("team").is_none());
    assert_eq!(
        (&spaces[1]["team"], &spaces[1]["unsealed"]),
        (&json!("Crew"), &json!(2))
    );
}
