//! The operations on accounts: passphrases, account keys, epochs, invitations, links.

use super::{VectorResult, array, secret};
use crate::operation::{bytes, id, number, text};
use bip39::Language;
use cairn_crypto::format2::account::{
    AccountSecrets, BoxKey, InvitationToken, Root, RootCost, RootParams, SealedAccount,
    comparison_words,
};
use cairn_crypto::format2::{
    KeyRing, LinkKey, Listing, ListingPlace, SharingKeys, open_grant, open_team_epoch,
};
use cairn_crypto::{CryptoError, RecoveryKey};
use cairn_log::{Acceptance, AcceptanceSignatures, Epoch};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub(crate) fn run(operation: &str, input: &Value) -> Option<VectorResult> {
    Some(match operation {
        "root" => root(input).map(|root| {
            json!({
                "kek": hex::encode(*root.kek()), "auth": root.auth(),
                "recovery_hash": root.recovery_hash(id(input, "account")),
            })
        }),
        "words" => words(input),
        "token" => token(input),
        "acceptance" => acceptance(input),
        "open_account" => open_account(input),
        "open_account_with_recovery" => open_account_with_recovery(input),
        "open_ring" => open_ring(input),
        "open_grant" => grant(input),
        "open_team_epoch" => team_epoch(input),
        "open_device_box" => device_box(input),
        "open_listing" => listing(input).map(|opened| listing_json(input, &opened)),
        "open_listed_chunk" => listed_chunk(input),
        _ => return None,
    })
}

fn small_number(input: &Value, field: &str) -> u32 {
    u32::try_from(number(input, field)).unwrap()
}

pub(crate) fn root(input: &Value) -> Result<Root, CryptoError> {
    let params = RootParams {
        cost: RootCost {
            memory: small_number(input, "memory"),
            passes: small_number(input, "passes"),
            lanes: small_number(input, "lanes"),
        },
        salt: array(input, "salt"),
    };
    Root::derive(text(input, "passphrase"), &params)
}

/// The places of the words in the list: JavaScript doesn't have it.
fn words(input: &Value) -> VectorResult {
    let words = comparison_words(
        id(input, "space"),
        number(input, "size"),
        &array(input, "root"),
    )?;
    let list = Language::English.word_list();
    let place = |word: &str| list.iter().position(|known| *known == word);
    Ok(json!({"places": words.map(place)}))
}

fn token(input: &Value) -> VectorResult {
    let token = InvitationToken::from_bytes(&bytes(input, "token"))?;
    assert_eq!(
        *token.to_bytes(),
        bytes(input, "token"),
        "a token has one form"
    );
    Ok(json!({
        "public": hex::encode(token.public(id(input, "space"))?),
        "size": token.size, "root": hex::encode(token.root),
    }))
}

fn acceptance(input: &Value) -> VectorResult {
    let acceptance = Acceptance {
        space: id(input, "space"),
        genesis: array(input, "genesis"),
        invite: array(input, "invite"),
        account: id(input, "account"),
        identity: array(input, "identity"),
        sharing: array(input, "sharing"),
    };
    let signatures = AcceptanceSignatures {
        token: array(input, "by_token"),
        identity: array(input, "by_identity"),
    };
    acceptance.verify(&array(input, "token_key"), &signatures)?;
    Ok(json!({}))
}

fn sealed_account(input: &Value) -> SealedAccount {
    SealedAccount {
        account: bytes(input, "sealed_account"),
        recovery: bytes(input, "sealed_recovery"),
        identity: bytes(input, "sealed_identity"),
        sharing: bytes(input, "sealed_sharing"),
        ring: bytes(input, "sealed_ring"),
    }
}

fn open_account(input: &Value) -> VectorResult {
    let (account, space) = (id(input, "account"), id(input, "space"));
    let opened = AccountSecrets::open(account, space, &root(input)?, &sealed_account(input))?;
    Ok(account_json(&opened, small_number(input, "number")))
}

fn open_account_with_recovery(input: &Value) -> VectorResult {
    let (account, space) = (id(input, "account"), id(input, "space"));
    let recovery = RecoveryKey::parse(text(input, "recovery"))?;
    let sealed = sealed_account(input);
    let opened = AccountSecrets::open_with_recovery(account, space, &recovery, &sealed)?;
    Ok(account_json(&opened, small_number(input, "number")))
}

fn account_json(opened: &AccountSecrets, number: u32) -> Value {
    json!({
        "identity": hex::encode(opened.identity.public()),
        "sharing": sharing_hash(&opened.sharing),
        "genesis": hex::encode(opened.genesis),
        "ring": ring_json(&opened.ring),
        "box_key": hex::encode(*opened.key().box_key(number).to_bytes()),
    })
}

fn sharing_hash(keys: &SharingKeys) -> String {
    let public = keys.public();
    hex::encode(Sha256::digest([&public.rsa[..], &public.kem[..]].concat()))
}

fn ring_json(ring: &KeyRing) -> Value {
    let secret = |epoch| Some(json!([epoch, hex::encode(*ring.secret(epoch)?.to_bytes())]));
    (1..=ring.newest_secret().epoch())
        .filter_map(secret)
        .collect()
}

fn open_ring(input: &Value) -> VectorResult {
    let ring = KeyRing::open_older(secret(input)?, &bytes(input, "ring"))?;
    Ok(json!({"ring": ring_json(&ring)}))
}

fn sharing_keys(input: &Value) -> Result<SharingKeys, CryptoError> {
    SharingKeys::from_bytes(&bytes(input, "sharing_private"))
}

fn grant(input: &Value) -> VectorResult {
    let (space, epoch) = (id(input, "space"), number(input, "epoch"));
    let account = id(input, "account");
    let opened = open_grant(
        &sharing_keys(input)?,
        space,
        epoch,
        account,
        &bytes(input, "grant"),
    )?;
    Ok(json!({
        "secret": hex::encode(*opened.to_bytes()), "check": hex::encode(opened.check_value()),
    }))
}

fn statement(input: &Value) -> Epoch {
    Epoch {
        epoch: number(input, "epoch"),
        check: array(input, "check"),
        boxes: array(input, "boxes_hash"),
    }
}

fn team_epoch(input: &Value) -> VectorResult {
    let (account, space) = (id(input, "account"), id(input, "space"));
    let (keys, statement) = (sharing_keys(input)?, statement(input));
    let ring = open_team_epoch(&keys, account, space, &statement, &bytes(input, "boxes"))?;
    Ok(json!({"ring": ring_json(&ring)}))
}

fn device_box(input: &Value) -> VectorResult {
    let key = BoxKey::from_bytes(small_number(input, "number"), &bytes(input, "box_key"))?;
    let (account, space) = (id(input, "account"), id(input, "space"));
    let opened = key.open_epoch(account, space, &statement(input), &bytes(input, "boxes"))?;
    Ok(json!({
        "next": hex::encode(*opened.next.to_bytes()),
        "sharing": sharing_hash(&opened.sharing),
        "ring": ring_json(&opened.ring),
    }))
}

fn listing(input: &Value) -> Result<Listing, CryptoError> {
    let key = LinkKey::from_bytes(&bytes(input, "link_key"))?;
    let place = ListingPlace {
        share: Uuid::parse_str(text(input, "share")).unwrap(),
        node: id(input, "node"),
        number: number(input, "number"),
    };
    Listing::open(&key, place, &bytes(input, "listing"))
}

fn listing_json(input: &Value, listing: &Listing) -> Value {
    let chunks = listing.chunks.iter().map(|chunk| {
        json!({
            "node": chunk.at.node, "epoch": chunk.at.epoch, "id": chunk.id.to_string(),
            "length": chunk.length, "hash": hex::encode(chunk.hash),
        })
    });
    let chunks: Vec<Value> = chunks.collect();
    json!({
        "space": listing.space, "path": listing.path, "size": listing.size,
        "hash": hex::encode(listing.hash), "chunks": chunks,
        "sealed_hash": hex::encode(Listing::sealed_hash(&bytes(input, "listing"))),
    })
}

fn listed_chunk(input: &Value) -> VectorResult {
    let listing = listing(input)?;
    let chunk = &listing.chunks[usize::try_from(number(input, "chunk")).unwrap()];
    let plain = chunk.open(listing.space, &bytes(input, "sealed"))?;
    Ok(json!({"plain": hex::encode(plain)}))
}
