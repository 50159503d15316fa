//! The operations of a vector. Bytes are hexadecimal.

use cairn_crypto::format2::{Listing, ListingPlace};
use cairn_crypto::{
    AccountKey, AccountKeys, CryptoError, GrantContext, KdfFields, KdfParams, KeyBundle,
    LinkSecret, NodeFacts, NodeSeal, RecoveryKey, SpaceKeys, WrappedSpaceKey, open_grant,
    open_manifest, unlock, unlock_with_account_key, unlock_with_recovery,
};
use cairn_model::Kind;
use serde_json::{Value, json};

type VectorResult = Result<Value, CryptoError>;

pub(crate) fn run(operation: &str, input: &Value) -> VectorResult {
    match operation {
        "derive" => derive(input),
        "unlock" => {
            let (opened, auth) = unlock(
                &bundle(input),
                text(input, "passphrase"),
                id(input, "account"),
                id(input, "space"),
            )?;
            Ok(json!({"auth": auth.to_hex(), "opened": opened_json(&opened)}))
        }
        "unlock_with_account_key" => {
            let key = AccountKey::from_bytes(&bytes(input, "opened_account_key"))?;
            let opened = unlock_with_account_key(
                &bundle(input),
                &key,
                id(input, "account"),
                id(input, "space"),
            )?;
            Ok(opened_json(&opened))
        }
        "unlock_with_recovery" => {
            let key = RecoveryKey::parse(text(input, "recovery_key"))?;
            let opened = unlock_with_recovery(
                &bundle(input),
                &key,
                id(input, "account"),
                id(input, "space"),
            )?;
            Ok(json!({"auth": key.auth().to_hex(), "opened": opened_json(&opened)}))
        }
        "check_floor" => bundle(input)
            .check_not_older(number(input, "seen"))
            .map(|()| json!({})),
        "open_manifest" => {
            let sealed = bytes(input, "sealed");
            let manifest = open_manifest(
                &space_keys(input)?,
                id(input, "node"),
                id(input, "revision"),
                &sealed,
            )?;
            Ok(serde_json::to_value(manifest).unwrap())
        }
        "check_node_seal" => check_node_seal(input),
        "open_listing" => open_listing(input),
        "open_grant" => grant(input),
        other => panic!("there is no operation {other}"),
    }
}

fn derive(input: &Value) -> VectorResult {
    let root = kdf_fields(input).derive(text(input, "passphrase"))?;
    Ok(json!({"auth": root.auth.to_hex()}))
}

fn open_listing(input: &Value) -> VectorResult {
    let secret = LinkSecret::parse(text(input, "fragment"))?;
    let key = match input["password"].as_str() {
        None => secret.key(),
        Some(password) => secret.key_with_password(password, &link_kdf(input)?)?.0,
    };
    let place = ListingPlace {
        share: text(input, "share").parse().unwrap(),
        node: id(input, "node"),
        number: number(input, "number"),
    };
    let listing = Listing::open(&key, place, &bytes(input, "listing"))?;
    let plain = listing.chunks[0].open(listing.space, &bytes(input, "sealed_chunk"))?;
    Ok(json!({
        "path": listing.path,
        "size": listing.size,
        "chunks": listing.chunks.len(),
        "plain": hex::encode(plain),
    }))
}

fn grant(input: &Value) -> VectorResult {
    let key = AccountKey::from_bytes(&bytes(input, "opened_account_key"))?;
    let own = unlock_with_account_key(
        &bundle(input),
        &key,
        id(input, "account"),
        id(input, "space"),
    )?;
    let context = GrantContext {
        space: id(input, "team_space"),
        epoch: u32::try_from(number(input, "team_epoch")).unwrap(),
        granter: id(input, "granter"),
        signing: bytes(input, "granter_signing").try_into().unwrap(),
    };
    let ring = open_grant(&own, &context, &bytes(input, "grant"))?;
    let checks: Vec<Option<String>> = (1..=context.epoch)
        .map(|epoch| ring.check_value(epoch).map(hex::encode))
        .collect();
    Ok(json!({"epoch": ring.epoch(), "checks": checks}))
}

fn link_kdf(input: &Value) -> Result<KdfParams, CryptoError> {
    let iterations = u32::try_from(number(input, "kdf_iterations")).unwrap();
    KdfParams::parse(iterations, &bytes(input, "kdf_salt"))
}

fn kdf_fields(input: &Value) -> KdfFields {
    let cost = |field: &str| input[field].as_u64().map(|n| u32::try_from(n).unwrap());
    KdfFields {
        algorithm: text(input, "kdf_algorithm").to_owned(),
        iterations: cost("kdf_iterations").unwrap(),
        memory: cost("kdf_memory"),
        lanes: cost("kdf_lanes"),
        salt: bytes(input, "kdf_salt"),
    }
}

fn check_node_seal(input: &Value) -> VectorResult {
    let facts = NodeFacts {
        node: id(input, "node"),
        parent: input["parent"]
            .as_str()
            .map(|parent| parent.parse().unwrap()),
        name: text(input, "name"),
        kind: if text(input, "kind") == "file" {
            Kind::File
        } else {
            Kind::Folder
        },
        executable: input["executable"].as_bool().unwrap(),
        deleted: input["deleted"].as_bool().unwrap(),
    };
    let info = NodeSeal::check(&space_keys(input)?, &facts, &bytes(input, "seal"))?;
    Ok(json!({"seq": info.seq, "manifest_hash": info.manifest_hash.map(hex::encode)}))
}

fn space_keys(input: &Value) -> Result<SpaceKeys, CryptoError> {
    let key: [u8; 32] = bytes(input, "space_key").try_into().unwrap();
    SpaceKeys::from_raw(
        id(input, "space"),
        u32::try_from(number(input, "epoch")).unwrap(),
        &key,
    )
}

fn opened_json(opened: &AccountKeys) -> Value {
    json!({
        "account_key": hex::encode(*opened.account_key.to_bytes()),
        "bundle_version": opened.bundle_version,
        "signing_public": hex::encode(opened.signing.public()),
        "fingerprint": opened.public().fingerprint(),
        "space_epoch": opened.space.epoch(),
    })
}

pub(crate) fn bundle(input: &Value) -> KeyBundle {
    let spaces = input["spaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|space| WrappedSpaceKey {
            space_id: id(space, "space_id"),
            epoch: u32::try_from(number(space, "epoch")).unwrap(),
            key: bytes(space, "key"),
        });
    KeyBundle {
        format: u32::try_from(number(input, "format")).unwrap(),
        version: number(input, "version"),
        kdf: kdf_fields(input),
        account_key: bytes(input, "account_key"),
        rsa_public: bytes(input, "rsa_public"),
        rsa_private: bytes(input, "rsa_private"),
        signing_public: bytes(input, "signing_public"),
        signing_private: bytes(input, "signing_private"),
        spaces: spaces.collect(),
        recovery: input["recovery"]
            .as_str()
            .map(|text| hex::decode(text).unwrap()),
        replaced: None,
    }
}

pub(crate) fn text<'a>(input: &'a Value, field: &str) -> &'a str {
    input[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field} is no text"))
}

pub(crate) fn number(input: &Value, field: &str) -> u64 {
    input[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} is no number"))
}

pub(crate) fn bytes(input: &Value, field: &str) -> Vec<u8> {
    hex::decode(text(input, field)).unwrap_or_else(|_| panic!("{field} is not hexadecimal"))
}

pub(crate) fn id<T: std::str::FromStr>(input: &Value, field: &str) -> T {
    text(input, field)
        .parse()
        .unwrap_or_else(|_| panic!("{field} is no id"))
}
