//! Vectors of the key hierarchy: derivation, the account's bundle.

use super::{AUTH, FORMAT, case, damages, fields, file, flip, merge};
use crate::seeded::Seeded;
use crate::{Case, File};
use cairn_crypto::{
    ARGON2ID, KeyBundle, MIN_ITERATIONS, PBKDF2, RootCost, change_passphrase, create_account,
    make_recovery_key,
};
use cairn_model::{AccountId, SpaceId};
use serde_json::{Value, json};

pub(super) fn kdf() -> File {
    let base = json!({
        "passphrase": "correct horse battery staple",
        "kdf_algorithm": PBKDF2,
        "kdf_iterations": MIN_ITERATIONS,
        "kdf_salt": "0b".repeat(32),
    });
    let weak = |name: &str, set: Value| case("derive", name, set, "weak_kdf");
    let mut cases = vec![
        case("derive", "the floor", json!({}), "ok"),
        case(
            "derive",
            "another salt",
            json!({"kdf_salt": "0c".repeat(32)}),
            "ok",
        ),
        case(
            "derive",
            "one iteration more",
            json!({"kdf_iterations": MIN_ITERATIONS + 1}),
            "ok",
        ),
        case(
            "derive",
            "composed letters",
            json!({"passphrase": "caf\u{e9}"}),
            "ok",
        ),
        case(
            "derive",
            "the same letters, decomposed",
            json!({"passphrase": "cafe\u{301}"}),
            "ok",
        ),
        case(
            "derive",
            "an empty passphrase",
            json!({"passphrase": ""}),
            "invalid_input",
        ),
        weak(
            "another algorithm",
            json!({"kdf_algorithm": "pbkdf2-hmac-sha1"}),
        ),
        weak(
            "the algorithm in capitals",
            json!({"kdf_algorithm": "PBKDF2-HMAC-SHA256"}),
        ),
        weak("no algorithm", json!({"kdf_algorithm": ""})),
        weak("an empty salt", json!({"kdf_salt": ""})),
        weak("a short salt", json!({"kdf_salt": "0b".repeat(31)})),
        weak("a long salt", json!({"kdf_salt": "0b".repeat(33)})),
        weak("a salt of zeros", json!({"kdf_salt": "00".repeat(32)})),
    ];
    for iterations in [0_u32, 1, 599_999, 10_000_001, 1 << 31, u32::MAX] {
        cases.push(weak(
            &format!("{iterations} iterations"),
            json!({ "kdf_iterations": iterations }),
        ));
    }
    cases.extend(argon2id());
    file(
        "Root key derivation: bounds, and the value that the server may know.",
        base,
        cases,
    )
}

fn argon2id() -> Vec<Case> {
    let base = json!({
        "kdf_algorithm": ARGON2ID,
        "kdf_iterations": RootCost::LEAST.passes,
        "kdf_memory": RootCost::LEAST.memory,
        "kdf_lanes": RootCost::LEAST.lanes,
    });
    let derive = |name: &str, set: Value, result: &str| {
        let name = format!("argon2id, {name}");
        case("derive", &name, merge(base.clone(), set), result)
    };
    let mut cases = vec![
        derive("the least cost", json!({}), "ok"),
        derive(
            "the cost of new accounts",
            json!({"kdf_memory": RootCost::DEFAULT.memory}),
            "ok",
        ),
        derive("one lane", json!({"kdf_lanes": 1}), "ok"),
        derive("one pass more", json!({"kdf_iterations": 4}), "ok"),
        derive(
            "an empty passphrase",
            json!({"passphrase": ""}),
            "invalid_input",
        ),
        derive("an empty salt", json!({"kdf_salt": ""}), "weak_kdf"),
        derive(
            "a salt of zeros",
            json!({"kdf_salt": "00".repeat(32)}),
            "weak_kdf",
        ),
        derive("no memory", json!({"kdf_memory": null}), "weak_kdf"),
        derive("no lanes", json!({"kdf_lanes": null}), "weak_kdf"),
    ];
    for memory in [0, RootCost::LEAST.memory - 1, 1024 * 1024 + 1, u32::MAX] {
        let set = json!({ "kdf_memory": memory });
        cases.push(derive(&format!("{memory} KiB"), set, "weak_kdf"));
    }
    for passes in [0, 2, 11, u32::MAX] {
        let set = json!({ "kdf_iterations": passes });
        cases.push(derive(&format!("{passes} passes"), set, "weak_kdf"));
    }
    for lanes in [0, 9] {
        let set = json!({ "kdf_lanes": lanes });
        cases.push(derive(&format!("{lanes} lanes"), set, "weak_kdf"));
    }
    cases
}

pub(super) fn bundle_json(bundle: &KeyBundle) -> Value {
    let spaces = bundle.spaces.iter();
    let spaces: Vec<Value> = spaces
        .map(|s| json!({"space_id": s.space_id, "epoch": s.epoch, "key": hex::encode(&s.key)}))
        .collect();
    json!({
        "format": bundle.format,
        "version": bundle.version,
        "kdf_algorithm": bundle.kdf.algorithm,
        "kdf_iterations": bundle.kdf.iterations,
        "kdf_memory": bundle.kdf.memory,
        "kdf_lanes": bundle.kdf.lanes,
        "kdf_salt": hex::encode(&bundle.kdf.salt),
        "account_key": hex::encode(&bundle.account_key),
        "rsa_public": hex::encode(&bundle.rsa_public),
        "rsa_private": hex::encode(&bundle.rsa_private),
        "signing_public": hex::encode(&bundle.signing_public),
        "signing_private": hex::encode(&bundle.signing_private),
        "spaces": spaces,
        "recovery": bundle.recovery.as_ref().map(hex::encode),
    })
}

pub(super) fn bundle() -> File {
    const PASSPHRASE: &str = "correct horse battery staple";
    let rng = &mut Seeded::new("vectors/bundle");
    let account = AccountId::from_random_bytes([9; 16]);
    let space = SpaceId::from_random_bytes([1; 16]);
    let (first, unlocked, _) =
        create_account(PASSPHRASE, account, space, RootCost::LEAST, rng).unwrap();
    let (recovery, bundle) = make_recovery_key(&first, &unlocked, rng).unwrap();
    let (changed, _) =
        change_passphrase(&bundle, &unlocked, "a new one", RootCost::LEAST, rng).unwrap();
    let mut base = fields(bundle_json(&bundle));
    base.extend(fields(json!({
        "account": account,
        "space": space,
        "passphrase": PASSPHRASE,
        "recovery_key": recovery.reveal().as_str(),
        "opened_account_key": hex::encode(*unlocked.account_key.to_bytes()),
    })));

    let by_key = "unlock_with_account_key";
    let other = json!("0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a");
    let mut swapped = fields(bundle_json(&bundle));
    swapped.retain(|field, _| field == "rsa_private" || field == "signing_private");
    let (rsa, signing) = (
        swapped["rsa_private"].clone(),
        swapped["signing_private"].clone(),
    );
    let key = &bundle.spaces[0].key;
    let space_with = |key: &[u8], epoch: u32| json!({"spaces": [{"space_id": space, "epoch": epoch, "key": hex::encode(key)}]});
    let mut cases = vec![
        case("unlock", "with the passphrase", json!({}), "ok"),
        case(
            "unlock",
            "after the passphrase changed",
            merge(bundle_json(&changed), json!({"passphrase": "a new one"})),
            "ok",
        ),
        case(by_key, "with the key from the keyring", json!({}), "ok"),
        case(by_key, "as it was at first", bundle_json(&first), "ok"),
        case(
            "unlock_with_recovery",
            "with the recovery key",
            json!({}),
            "ok",
        ),
        case(
            "unlock_with_recovery",
            "after the passphrase changed",
            bundle_json(&changed),
            "ok",
        ),
        case(
            "check_floor",
            "the version that was seen",
            json!({"seen": 2}),
            "ok",
        ),
        case(
            "check_floor",
            "an older version than was seen",
            json!({"seen": 3}),
            "rollback",
        ),
        case(
            "unlock",
            "with a wrong passphrase",
            json!({"passphrase": "wrong"}),
            AUTH,
        ),
        case(
            "unlock",
            "with the old passphrase after it changed",
            bundle_json(&changed),
            AUTH,
        ),
        case(
            "unlock",
            "another account",
            json!({ "account": other }),
            AUTH,
        ),
        case(
            "unlock",
            "another salt",
            json!({"kdf_salt": "0b".repeat(32)}),
            AUTH,
        ),
        case(
            "unlock",
            "one iteration more",
            json!({"kdf_iterations": RootCost::LEAST.passes + 1}),
            AUTH,
        ),
        case(
            "unlock",
            "iterations lowered to 1",
            json!({"kdf_iterations": 1}),
            "weak_kdf",
        ),
        case(
            "unlock",
            "iterations raised to 2^31",
            json!({"kdf_iterations": 1_u32 << 31}),
            "weak_kdf",
        ),
        case(
            "unlock",
            "more memory",
            json!({"kdf_memory": RootCost::LEAST.memory + 1}),
            AUTH,
        ),
        case(
            "unlock",
            "memory lowered",
            json!({"kdf_memory": RootCost::LEAST.memory - 1}),
            "weak_kdf",
        ),
        case(
            "unlock",
            "memory raised to 4 TiB",
            json!({"kdf_memory": u32::MAX}),
            "weak_kdf",
        ),
        case(
            "unlock",
            "fewer lanes",
            json!({"kdf_lanes": RootCost::LEAST.lanes - 1}),
            AUTH,
        ),
        case(
            "unlock",
            "the algorithm from before",
            json!({"kdf_algorithm": PBKDF2, "kdf_iterations": MIN_ITERATIONS, "kdf_memory": null, "kdf_lanes": null}),
            AUTH,
        ),
        case(
            by_key,
            "the algorithm from before, with parameters of the other",
            json!({"kdf_algorithm": PBKDF2}),
            "weak_kdf",
        ),
        case(
            by_key,
            "without its memory",
            json!({"kdf_memory": null}),
            "weak_kdf",
        ),
        case(by_key, "other memory", json!({"kdf_memory": 65_537}), AUTH),
        case(
            by_key,
            "a key of zeros from the keyring",
            json!({"opened_account_key": "00".repeat(32)}),
            AUTH,
        ),
        case(
            by_key,
            "a short key from the keyring",
            json!({"opened_account_key": "01".repeat(31)}),
            AUTH,
        ),
        case(
            by_key,
            "an empty key from the keyring",
            json!({"opened_account_key": ""}),
            AUTH,
        ),
        case(
            by_key,
            "an old bundle with a higher version",
            merge(bundle_json(&first), json!({"version": 4})),
            AUTH,
        ),
        case(by_key, "a higher version", json!({"version": 3}), AUTH),
        case(
            by_key,
            "a newer bundle format",
            json!({"format": 2}),
            FORMAT,
        ),
        case(by_key, "bundle format 0", json!({"format": 0}), FORMAT),
        case(
            by_key,
            "private keys swapped",
            json!({"rsa_private": signing, "signing_private": rsa}),
            AUTH,
        ),
        case(
            by_key,
            "the account key of an older bundle",
            json!({"account_key": hex::encode(&changed.account_key)}),
            AUTH,
        ),
        case(
            by_key,
            "no recovery key any more",
            json!({ "recovery": null }),
            AUTH,
        ),
        case(
            by_key,
            "a space key of another epoch",
            space_with(key, 2),
            AUTH,
        ),
        case(
            by_key,
            "an altered space key",
            space_with(&[&key[..20], &[key[20] ^ 1], &key[21..]].concat(), 1),
            AUTH,
        ),
        case(by_key, "an empty space key", space_with(&[], 1), AUTH),
        case(by_key, "no space key", json!({"spaces": []}), AUTH),
        case(
            by_key,
            "a space that the account is not in",
            json!({ "space": other }),
            "key_missing",
        ),
        case(
            by_key,
            "another signing key",
            json!({"signing_public": "0b".repeat(32)}),
            "key_changed",
        ),
        case(
            by_key,
            "an empty signing key",
            json!({"signing_public": ""}),
            "key_changed",
        ),
        case(
            by_key,
            "another RSA key",
            json!({"rsa_public": "0b".repeat(398)}),
            "key_changed",
        ),
        case(
            "unlock_with_recovery",
            "a mistyped recovery key",
            json!({"recovery_key": "00000-00000-00000-00000-00000-00000-00000-00000"}),
            "invalid_input",
        ),
        case(
            "unlock_with_recovery",
            "no recovery key was made",
            bundle_json(&first),
            "invalid_input",
        ),
    ];
    cases.extend(damages("unlock", "account_key", &bundle.account_key, 0));
    cases.extend(damages(
        by_key,
        "signing_private",
        &bundle.signing_private,
        0,
    ));
    // The RSA key's own wrap is looked at after the digest in the signing key's has refused.
    cases.push(case(
        by_key,
        "rsa_private: a bit",
        json!({"rsa_private": flip(&bundle.rsa_private, 100)}),
        AUTH,
    ));
    let wrapped = bundle.recovery.as_ref().unwrap();
    cases.extend(damages("unlock_with_recovery", "recovery", wrapped, 0));
    file(
        "The key bundle of an account: every key that opens it, and what must not.",
        Value::Object(base),
        cases,
    )
}
