//! Vectors of grants: a team's space key for one member, and everything that is no such grant.

use super::account::bundle_json;
use super::{AUTH, case, damages, flip, merge};
use crate::File;
use crate::seeded::Seeded;
use cairn_crypto::{AccountKeys, KeyRing, RootCost, create_account, make_grant};
use cairn_model::{AccountId, SpaceId};
use serde_json::{Value, json};

fn account(n: u8, seed: &str) -> (Value, AccountKeys) {
    let (account, space) = (
        AccountId::from_random_bytes([n; 16]),
        SpaceId::from_random_bytes([n + 1; 16]),
    );
    let rng = &mut Seeded::new(seed);
    let (bundle, unlocked, _) =
        create_account("passphrase", account, space, RootCost::LEAST, rng).unwrap();
    let own = json!({
        "account": account,
        "space": space,
        "opened_account_key": hex::encode(*unlocked.account_key.to_bytes()),
    });
    (merge(bundle_json(&bundle), own), unlocked)
}

pub(super) fn grant() -> File {
    let operation = "open_grant";
    let rng = &mut Seeded::new("vectors/grant");
    let (member_json, member) = account(0x20, "vectors/grant/member");
    let (other_json, other) = account(0x30, "vectors/grant/other");
    let (_, granter) = account(0x40, "vectors/grant/granter");
    let team = SpaceId::from_random_bytes([0x50; 16]);
    let stranger = json!("0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a");

    let first = KeyRing::generate(team, 1, rng);
    let third = first.renew(3, rng).unwrap();
    let mut make = |ring: &KeyRing, by: &AccountKeys, to: &AccountKeys| {
        make_grant(ring, by, to.account, &to.public(), rng).unwrap()
    };
    let whole = make(&third, &granter, &member);
    let of_first = hex::encode(make(&first, &granter, &member));
    let own = hex::encode(make(&third, &member, &member));
    let for_other = make(&third, &granter, &other);
    let by_other = make(&third, &other, &member);
    // The block of one grant in the record of another, and the same record signed by somebody else.
    let mut swapped = whole.clone();
    swapped[33..33 + 384].copy_from_slice(&for_other[33..33 + 384]);
    let mut resigned = whole.clone();
    let end = whole.len() - 64;
    resigned[end..].copy_from_slice(&by_other[end..]);
    let zeros = [&whole[..end], &[0; 64][..]].concat();

    let base = merge(
        member_json,
        json!({
            "team_space": team,
            "team_epoch": 3,
            "granter": granter.account,
            "granter_signing": hex::encode(granter.signing.public()),
            "grant": hex::encode(&whole),
        }),
    );
    let refused = |name: &str, set: Value| case(operation, name, set, AUTH);
    let mut cases = vec![
        case(
            operation,
            "with the key of an earlier epoch",
            json!({}),
            "ok",
        ),
        case(
            operation,
            "of the first epoch",
            json!({"grant": of_first, "team_epoch": 1}),
            "ok",
        ),
        case(
            operation,
            "made by the member",
            json!({
                "grant": own,
                "granter": member.account,
                "granter_signing": hex::encode(member.signing.public()),
            }),
            "ok",
        ),
        refused("of another space", json!({ "team_space": stranger })),
        refused("of an earlier epoch", json!({"team_epoch": 2})),
        refused("of a later epoch", json!({"team_epoch": 4})),
        refused(
            "an old one in place of the newest",
            json!({ "grant": of_first }),
        ),
        refused("by another granter", json!({ "granter": stranger })),
        refused(
            "by a granter with another key",
            json!({"granter_signing": hex::encode(other.signing.public())}),
        ),
        refused(
            "by a granter with a key that fits every message",
            json!({"granter_signing": format!("01{}", "00".repeat(31))}),
        ),
        refused(
            "by somebody else under the granter's name",
            json!({"grant": hex::encode(&by_other)}),
        ),
        refused(
            "for another member",
            json!({"grant": hex::encode(&for_other)}),
        ),
        refused("opened by another member", other_json),
        refused(
            "with the block of another member's grant",
            json!({"grant": hex::encode(swapped)}),
        ),
        refused(
            "with the signature of another grant",
            json!({"grant": hex::encode(resigned)}),
        ),
        refused(
            "without a signature",
            json!({"grant": hex::encode(&whole[..end])}),
        ),
        refused(
            "with a signature of zeros",
            json!({"grant": hex::encode(zeros)}),
        ),
        refused(
            "with another signing key in it",
            json!({"grant": flip(&whole, 1)}),
        ),
        refused(
            "with a bit of the block",
            json!({"grant": flip(&whole, 33)}),
        ),
        refused(
            "with a bit of the earlier keys",
            json!({"grant": flip(&whole, 33 + 384 + 20)}),
        ),
    ];
    cases.extend(damages(operation, "grant", &whole, 0));
    super::file(
        "Grants of a team's space key to one member, and everything that is none.",
        base,
        cases,
    )
}
