//! Vectors of accounts: passphrases, invitations, account keys, epochs, grants, links.

use super::{AUTH, case, damages, file, with};
use crate::format2::account::root;
use crate::format2::{node_key, secret};
use crate::make::{fields, merge, node};
use crate::seeded::Seeded;
use crate::{Case, File};
use cairn_crypto::format2::account::{
    AccountSecrets, InvitationToken, KeyRotation, SealedAccount, change_passphrase,
};
use cairn_crypto::format2::{
    Compression, DeviceKey, IdentityKey, KeyRing, LinkKey, Listing, ListingPlace, NewEpoch,
    SharingKeys, SpaceSecret, make_grant, raise_team_epoch,
};
use cairn_log::{Acceptance, Device, DeviceList, device_number};
use cairn_model::{AccountId, SpaceId};
use serde_json::{Value, json};
use uuid::Uuid;

const OTHER: &str = "0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a";

fn account() -> AccountId {
    AccountId::from_random_bytes([4; 16])
}

fn space() -> SpaceId {
    SpaceId::from_random_bytes([1; 16])
}

fn identity() -> IdentityKey {
    IdentityKey::from_seed(&[0x11; 32]).unwrap()
}

/// Private sharing keys; finding primes takes seconds.
fn sharing_bytes() -> Vec<u8> {
    let primes = include_str!("../../../support/primes_one.hex");
    let mut bytes = hex::decode(primes.trim()).unwrap();
    bytes.extend_from_slice(&[0x12; 64]);
    bytes
}

fn sharing_keys() -> SharingKeys {
    SharingKeys::from_bytes(&sharing_bytes()).unwrap()
}

fn cost() -> Value {
    json!({
        "passphrase": "correct horse", "memory": 65_536, "passes": 3, "lanes": 4,
        "salt": "02".repeat(32),
    })
}

fn passphrase() -> File {
    let mut cases = vec![
        case("root", "letters of ASCII", json!({}), "ok"),
        case("root", "composed", json!({"passphrase": "Straße é"}), "ok"),
        case(
            "root",
            "decomposed",
            json!({"passphrase": "Straße e\u{301}"}),
            "ok",
        ),
        case("root", "one lane", json!({"lanes": 1}), "ok"),
    ];
    for (name, change) in [
        ("little memory", json!({"memory": 65_535})),
        ("much memory", json!({"memory": 1_048_577})),
        ("few passes", json!({"passes": 2})),
        ("many passes", json!({"passes": 11})),
        ("no lane", json!({"lanes": 0})),
        ("many lanes", json!({"lanes": 9})),
        ("a salt of zeros", json!({"salt": "00".repeat(32)})),
    ] {
        cases.push(case("root", name, change, "weak_kdf"));
    }
    cases.push(case(
        "root",
        "no passphrase",
        json!({"passphrase": ""}),
        "invalid_input",
    ));
    let head = json!({"size": 300, "root": "07".repeat(32)});
    cases.push(case("words", "of a head", head.clone(), "ok"));
    cases.push(case(
        "words",
        "of another size",
        merge(head, json!({"size": 301})),
        "ok",
    ));
    file(
        "Passphrases (Argon2id), and words for comparing heads.",
        cost(),
        cases,
    )
}

fn invitation() -> File {
    let token = InvitationToken::new([0x13; 16], 300, [0x14; 32]);
    let acceptance = Acceptance {
        space: space(),
        genesis: [0x15; 32],
        invite: [0x16; 16],
        account: account(),
        identity: identity().public(),
        sharing: [0x17; 32],
    };
    let signatures = token.accept(&acceptance, &identity()).unwrap();
    let base = json!({
        "token": hex::encode(token.to_bytes()),
        "token_key": hex::encode(token.public(space()).unwrap()),
        "genesis": "15".repeat(32), "invite": "16".repeat(16),
        "identity": hex::encode(acceptance.identity), "sharing": "17".repeat(32),
        "by_token": hex::encode(signatures.token),
        "by_identity": hex::encode(signatures.identity),
    });
    let mut cases = vec![
        case("token", "as it was handed over", json!({}), "ok"),
        case("token", "for another space", json!({"space": OTHER}), "ok"),
        case("acceptance", "as it was signed", json!({}), "ok"),
    ];
    cases.extend(super::ends("token", "token", "a token", &token.to_bytes()));
    for (name, change) in [
        ("of another space", json!({"space": OTHER})),
        ("of another account", json!({"account": OTHER})),
        ("of another genesis", json!({"genesis": "05".repeat(32)})),
        ("of another invitation", json!({"invite": "05".repeat(16)})),
        (
            "with other sharing keys",
            json!({"sharing": "05".repeat(32)}),
        ),
        (
            "of another identity",
            json!({"identity": hex::encode(IdentityKey::from_seed(&[1; 32]).unwrap().public())}),
        ),
        (
            "signed by the identity twice",
            json!({"by_token": hex::encode(signatures.identity)}),
        ),
        (
            "signed by the token twice",
            json!({"by_identity": hex::encode(signatures.token)}),
        ),
    ] {
        cases.push(case("acceptance", name, change, AUTH));
    }
    file("Invitations and their acceptance.", base, cases)
}

/// Returns an account of the passphrase above, and its devices.
fn secrets() -> (AccountSecrets, DeviceList) {
    let key = DeviceKey::from_seed(&[0x18; 32]).unwrap().public();
    let mut list = DeviceList {
        identity: identity().public(),
        counter: 1,
        rsa: sharing_keys().public().rsa.clone(),
        kem: sharing_keys().public().kem.clone(),
        devices: vec![Device {
            number: device_number(&key).unwrap(),
            key,
        }],
        signature: [0; 64],
    };
    identity().sign_devices(account(), &mut list);
    let first = SpaceSecret::from_bytes(space(), 1, &[7; 32]).unwrap();
    let personal = ([0x19; 32], KeyRing::new(first));
    let rng = &mut Seeded::new("format 2: account");
    let secrets = AccountSecrets::new(account(), identity(), sharing_keys(), personal, rng);
    (secrets, list)
}

fn sealed_json(sealed: &SealedAccount) -> Value {
    json!({
        "sealed_account": hex::encode(&sealed.account),
        "sealed_recovery": hex::encode(&sealed.recovery),
        "sealed_identity": hex::encode(&sealed.identity),
        "sealed_sharing": hex::encode(&sealed.sharing),
        "sealed_ring": hex::encode(&sealed.ring),
    })
}

fn rotation() -> (AccountSecrets, u32, KeyRotation) {
    let (secrets, list) = secrets();
    let rng = &mut Seeded::new("format 2: renewal");
    let root = root(&cost()).unwrap();
    let rotation = change_passphrase(&secrets, &root, &list, rng).unwrap();
    (secrets, list.devices[0].number, rotation)
}

fn account_keys() -> File {
    let (_, number, rotation) = rotation();
    let sealed = &rotation.sealed;
    let base = [
        cost(),
        sealed_json(sealed),
        json!({"number": number, "recovery": *rotation.recovery.reveal()}),
    ];
    let base = base.into_iter().reduce(merge).unwrap();
    let operation = "open_account_with_recovery";
    let mut cases = vec![
        case("open_account", "with its passphrase", json!({}), "ok"),
        case(operation, "with its recovery key", json!({}), "ok"),
        case(
            "open_account",
            "with another passphrase",
            json!({"passphrase": "wrong horse"}),
            AUTH,
        ),
        case(
            operation,
            "of another account",
            json!({"account": OTHER}),
            AUTH,
        ),
        case(
            operation,
            "with a mistyped recovery key",
            json!({"recovery": rotation.recovery.reveal()[1..]}),
            "invalid_input",
        ),
    ];
    for (name, field, from) in [
        (
            "the identity's seal as the sharing keys'",
            "sealed_sharing",
            &sealed.identity,
        ),
        (
            "the sharing keys' seal as the ring's",
            "sealed_ring",
            &sealed.sharing,
        ),
        (
            "the ring's seal as the identity's",
            "sealed_identity",
            &sealed.ring,
        ),
        (
            "the passphrase's seal as the recovery key's",
            "sealed_recovery",
            &sealed.account,
        ),
    ] {
        cases.push(case(operation, name, with(field, from), AUTH));
    }
    cases.extend(damages(operation, "sealed_ring", &sealed.ring));
    cases.extend(damages(operation, "sealed_recovery", &sealed.recovery));
    file(
        "The secrets of an account under its passphrase and its recovery key.",
        base,
        cases,
    )
}

fn epoch_json(new: &cairn_log::Epoch, boxes: &cairn_log::Boxes) -> Value {
    json!({
        "epoch": new.epoch, "check": hex::encode(new.check),
        "boxes_hash": hex::encode(new.boxes), "boxes": hex::encode(boxes.encode()),
    })
}

fn device_box() -> File {
    let (secrets, number, rotation) = rotation();
    let key = hex::encode(*secrets.key().box_key(number).to_bytes());
    let base = merge(
        epoch_json(&rotation.epoch, &rotation.boxes),
        json!({"number": number, "box_key": key}),
    );
    let operation = "open_device_box";
    let next = hex::encode(*rotation.secrets.key().box_key(number).to_bytes());
    let mut cases = vec![case(operation, "as it was sealed", json!({}), "ok")];
    for (name, change) in [
        ("of another space", json!({"space": OTHER})),
        ("of another epoch", json!({"epoch": 1})),
        ("of another account", json!({"account": OTHER})),
        ("of another device", json!({"number": number ^ 1})),
        ("with the next key", json!({"box_key": next})),
        (
            "with another check value",
            json!({"check": "05".repeat(32)}),
        ),
        ("another blob", json!({"boxes_hash": "05".repeat(32)})),
    ] {
        cases.push(case(operation, name, change, AUTH));
    }
    file("The box of a device in a new personal epoch.", base, cases)
}

fn team() -> NewEpoch {
    let first = secret(&json!({"space": space(), "epoch": 1, "secret": "07".repeat(32)})).unwrap();
    let rng = &mut Seeded::new("format 2: team");
    let second = KeyRing::new(first).with_next_epoch(rng);
    raise_team_epoch(
        &second,
        &[(account(), sharing_keys().public().clone())],
        rng,
    )
    .unwrap()
}

fn grant() -> File {
    let new = team();
    let rng = &mut Seeded::new("format 2: grant");
    let grant = make_grant(
        new.ring.newest_secret(),
        account(),
        sharing_keys().public(),
        rng,
    )
    .unwrap();
    let base = merge(
        epoch_json(&new.statement, &new.boxes),
        json!({"grant": hex::encode(&grant), "sharing_private": hex::encode(sharing_bytes())}),
    );
    let mut other = sharing_bytes();
    *other.last_mut().unwrap() ^= 1;
    other[2 * 192] ^= 1;
    let mut cases = vec![
        case("open_grant", "as it was made", json!({}), "ok"),
        case("open_team_epoch", "with its ring", json!({}), "ok"),
    ];
    for operation in ["open_grant", "open_team_epoch"] {
        for (name, change) in [
            ("of another space", json!({"space": OTHER})),
            ("of another epoch", json!({"epoch": 2})),
            ("of another account", json!({"account": OTHER})),
            ("with another ML-KEM seed", with("sharing_private", &other)),
        ] {
            cases.push(case(operation, name, change, AUTH));
        }
    }
    for (name, at) in [
        ("another RSA ciphertext", 383),
        ("another ML-KEM ciphertext", 384),
        ("the end of the ML-KEM ciphertext", 384 + 1087),
        ("another salt", 1472),
        ("another seal", 1504),
    ] {
        let mut bad = grant.clone();
        bad[at] ^= 1;
        cases.push(case("open_grant", name, with("grant", &bad), AUTH));
    }
    cases.extend(super::ends("open_grant", "grant", "a grant", &grant));
    for (name, change) in [
        ("another blob", json!({"boxes_hash": "05".repeat(32)})),
        ("another check value", json!({"check": "05".repeat(32)})),
    ] {
        cases.push(case("open_team_epoch", name, change, AUTH));
    }
    file("Grants: RSA-OAEP and ML-KEM-768 together.", base, cases)
}

fn ring() -> File {
    let first = SpaceSecret::from_bytes(space(), 1, &[8; 32]).unwrap();
    let rng = &mut Seeded::new("format 2: ring");
    let ring = (0..200).fold(KeyRing::new(first), |ring, _| ring.with_next_epoch(rng));
    let sealed = ring.seal_older(rng);
    let newest = hex::encode(*ring.newest_secret().to_bytes());
    let base = json!({"epoch": 201, "secret": newest, "ring": hex::encode(&sealed)});
    let mut cases = vec![case("open_ring", "of two hundred epochs", json!({}), "ok")];
    cases.extend(damages("open_ring", "ring", &sealed));
    for (name, change) in [
        ("of another space", json!({"space": OTHER})),
        ("of another epoch", json!({"epoch": 202})),
        ("under another secret", json!({"secret": "08".repeat(32)})),
    ] {
        cases.push(case("open_ring", name, change, AUTH));
    }
    file(
        "The secrets of earlier epochs under the newest.",
        base,
        cases,
    )
}

fn listing() -> File {
    let base = json!({"space": space(), "epoch": 1, "secret": "07".repeat(32), "node": node()});
    let key = node_key(&base).unwrap();
    let parts: [&[u8]; 2] = [b"the first part", b"the last"];
    let objects = parts.map(|plain| key.seal_chunk(plain, Compression::Off).unwrap());
    let rows = parts.iter().zip(&objects).map(|(plain, object)| {
        let hash = *blake3::hash(plain).as_bytes();
        key.list_chunk(object.id, plain.len() as u64, hash)
    });
    let listing = Listing {
        space: space(),
        path: "Verträge/2024.txt".to_owned(),
        size: 22,
        hash: *blake3::hash(&parts.concat()).as_bytes(),
        chunks: rows.collect(),
    };
    let share = Uuid::from_bytes([6; 16]);
    let place = ListingPlace {
        share,
        node: node(),
        number: 3,
    };
    let link = LinkKey::from_bytes(&[5; 32]).unwrap();
    let rng = &mut Seeded::new("format 2: listing");
    let sealed = listing.seal(&link, place, rng).unwrap();
    let [first, last] = objects.map(|object| hex::encode(object.bytes));
    let more = json!({
        "link_key": "05".repeat(32), "share": share, "number": 3,
        "listing": hex::encode(&sealed), "chunk": 1, "sealed": last,
    });
    let mut cases: Vec<Case> = vec![
        case("open_listing", "as it was sealed", json!({}), "ok"),
        case("open_listed_chunk", "the last chunk", json!({}), "ok"),
        case(
            "open_listed_chunk",
            "the first chunk",
            json!({"chunk": 0, "sealed": first}),
            "ok",
        ),
        case(
            "open_listed_chunk",
            "another chunk",
            json!({"sealed": first}),
            AUTH,
        ),
    ];
    for (name, change) in [
        (
            "of another share",
            json!({"share": Uuid::from_bytes([7; 16])}),
        ),
        ("of another node", json!({"node": OTHER})),
        ("of another number", json!({"number": 4})),
        ("under another key", json!({"link_key": "06".repeat(32)})),
    ] {
        cases.push(case("open_listing", name, change, AUTH));
    }
    let mut first_byte = sealed.clone();
    first_byte[0] ^= 1;
    cases.push(case(
        "open_listing",
        "another commitment",
        with("listing", &first_byte),
        AUTH,
    ));
    cases.extend(damages("open_listing", "listing", &sealed));
    let sealed = hex::decode(fields(more.clone())["sealed"].as_str().unwrap()).unwrap();
    cases.extend(damages("open_listed_chunk", "sealed", &sealed));
    file(
        "Listings behind share links, and the chunks that they open.",
        more,
        cases,
    )
}

/// Returns the files of this part.
pub(super) fn all() -> Vec<(&'static str, File)> {
    vec![
        ("passphrase", passphrase()),
        ("invitation", invitation()),
        ("account", account_keys()),
        ("device_box", device_box()),
        ("grant", grant()),
        ("ring", ring()),
        ("listing", listing()),
    ]
}
