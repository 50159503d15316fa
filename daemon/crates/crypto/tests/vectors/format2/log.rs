//! The operations on the log: everything that needs no secret.

use super::{VectorResult, array};
use crate::operation::{bytes, id, number};
use cairn_crypto::CryptoError;
use cairn_log::{
    AttributesRef, Boxes, Commit, Control, ControlBody, DeviceList, FilePart, Flags, Frame,
    LogPage, NodeKeyRef, NodeStatement, ServerEntry, SnapshotItem, Source, Statement,
    decode_snapshot, hash, hash_leaf, revision_id, root_of, short_hash, verify, verify_consistency,
    verify_inclusion,
};
use serde_json::{Map, Value, json};

pub(crate) fn run(operation: &str, input: &Value) -> Option<VectorResult> {
    Some(match operation {
        "statement" => statement(&bytes(input, "statement")),
        "signed_control" => signed_control(input),
        "commit" => commit(input),
        "entry" => entry(&bytes(input, "entry")),
        "page" => page(&bytes(input, "page")),
        "root_of" => Ok(json!({"root": hex::encode(root_of(&list(input, "leaves")))})),
        "inclusion" => verify_inclusion(
            &array(input, "leaf"),
            number(input, "position"),
            number(input, "size"),
            &hashes(input, "path"),
            &array(input, "root"),
        )
        .map_err(CryptoError::from)
        .map(|()| json!({})),
        "consistency" => verify_consistency(
            (number(input, "old_size"), &array(input, "old_root")),
            (number(input, "new_size"), &array(input, "new_root")),
            &hashes(input, "path"),
        )
        .map_err(CryptoError::from)
        .map(|()| json!({})),
        "snapshot" => snapshot(&bytes(input, "snapshot")),
        "boxes" => boxes(&bytes(input, "boxes")),
        _ => return None,
    })
}

fn list(input: &Value, field: &str) -> Vec<Vec<u8>> {
    let all = input[field].as_array().unwrap();
    all.iter()
        .map(|text| hex::decode(text.as_str().unwrap()).unwrap())
        .collect()
}

fn hashes(input: &Value, field: &str) -> Vec<[u8; 32]> {
    let all = list(input, field).into_iter();
    all.map(|hash| hash.try_into().unwrap()).collect()
}

fn statement(bytes: &[u8]) -> VectorResult {
    let statement = Statement::decode(bytes)?;
    assert_eq!(statement.encode()?, bytes, "a statement has one form");
    let mut out = match &statement {
        Statement::Node(node) => node_json(node),
        Statement::Control(control) => json!({
            "chain": hex::encode(control.chain),
            "prev": hex::encode(control.prev),
            "body": body_json(&control.body),
        }),
    };
    out["kind"] = json!(bytes[0]);
    out["hash"] = json!(hex::encode(hash(bytes)));
    out["short"] = json!(hex::encode(short_hash(bytes)));
    out["revision"] = json!(revision_id(bytes));
    Ok(out)
}

fn node_json(node: &NodeStatement) -> Value {
    let named = [
        ("folder", Flags::FOLDER),
        ("executable", Flags::EXECUTABLE),
        ("trashed", Flags::TRASHED),
        ("private", Flags::PRIVATE),
        ("confirmed", Flags::CONFIRMED),
        ("manifest", Flags::MANIFEST),
        ("symlink", Flags::SYMLINK),
    ];
    let flags: Vec<&str> = named
        .iter()
        .filter(|(_, flag)| node.flags.has(*flag))
        .map(|(name, _)| *name)
        .collect();
    json!({
        "node": node.node,
        "seq": node.seq,
        "prev": hex::encode(node.prev),
        "flags": flags,
        "parent": node.parent,
        "name": hex::encode(&node.name),
        "epoch": node.epoch,
        "file": node.file.as_ref().map(file_json),
        "box": hex::encode(&node.sealed_box),
    })
}

fn file_json(file: &FilePart) -> Value {
    json!({
        "object": file.object.to_string(),
        "size": file.facts.map(|facts| facts.size),
        "mtime_ms": file.facts.map(|facts| facts.mtime_ms),
        "key": file.key.map(key_json),
        "attributes": file.attributes.map(|AttributesRef { object, key, length }| json!({
            "object": object.to_string(), "key": key_json(key), "length": length,
        })),
    })
}

fn key_json(key: NodeKeyRef) -> Value {
    json!({"node": key.node, "epoch": key.epoch})
}

fn body_json(body: &ControlBody) -> Value {
    match body {
        ControlBody::Genesis(b) => json!({
            "private": b.is_private, "account": b.account, "identity": hex::encode(b.identity),
            "clock_ms": b.clock_ms, "random": hex::encode(b.random),
        }),
        ControlBody::Roster(b) => {
            let member = |m: &cairn_log::Member| json!({"account": m.account, "identity": hex::encode(m.identity), "role": m.role as u8 + 1});
            let members: Vec<Value> = b.members.iter().map(member).collect();
            json!({
                "members": members, "boxes": hex::encode(b.boxes),
                "by": b.signed.map(|(by, _)| by),
                "signature": b.signed.map(|(_, signature)| hex::encode(signature)),
            })
        }
        ControlBody::Epoch(b) => json!({
            "epoch": b.epoch, "check": hex::encode(b.check), "boxes": hex::encode(b.boxes),
        }),
        ControlBody::DeviceList(b) => devices_json(b),
        ControlBody::Invitation(b) => json!({
            "invite": hex::encode(b.invite), "token": hex::encode(b.token),
            "role": b.role.map_or(0, |role| role as u8 + 1), "expiry_ms": b.expiry_ms,
        }),
        ControlBody::Checkpoint(b) => json!({
            "position": b.position, "root": hex::encode(b.root), "digest": hex::encode(b.digest),
            "epoch": b.epoch,
        }),
        ControlBody::Link(b) => json!({
            "act": b.act, "top": b.top, "listing": b.listing, "hash": hex::encode(b.hash),
        }),
        ControlBody::Rejoin(b) => json!({
            "history": hex::encode(b.history), "size": b.size, "root": hex::encode(b.root),
        }),
        ControlBody::Joined(b) => json!({
            "in": b.is_in, "genesis": hex::encode(b.genesis), "size": b.size,
            "root": hex::encode(b.root),
        }),
        ControlBody::Identity(b) => json!({
            "objection": b.is_objection, "old": hex::encode(b.old), "new": hex::encode(b.new),
            "signature": hex::encode(b.signature),
        }),
    }
}

fn devices_json(list: &DeviceList) -> Value {
    let devices: Vec<Value> = list
        .devices
        .iter()
        .map(|device| json!({"number": device.number, "key": hex::encode(device.key)}))
        .collect();
    json!({
        "identity": hex::encode(list.identity), "counter": list.counter,
        "sharing": hex::encode(list.sharing_hash()), "devices": devices,
        "signature": hex::encode(list.signature),
    })
}

/// Checks the identity's signature in a roster, device list or change of identity.
fn signed_control(input: &Value) -> VectorResult {
    let Statement::Control(Control { chain, prev, body }) =
        Statement::decode(&bytes(input, "statement"))?
    else {
        return Err(CryptoError::NotAuthentic);
    };
    let (space, account) = (id(input, "space"), id(input, "account"));
    match body {
        ControlBody::DeviceList(list) => {
            let account = cairn_model::AccountId(uuid::Uuid::from_bytes(chain));
            verify(&list.identity, &list.to_sign(account), &list.signature)?;
        }
        ControlBody::Roster(roster) => {
            let (_, signature) = roster.signed.ok_or(CryptoError::NotAuthentic)?;
            let identity = array(input, "identity");
            verify(&identity, &roster.to_sign(space, &prev), &signature)?;
        }
        ControlBody::Identity(change) => {
            let by = if change.is_objection {
                &change.old
            } else {
                &change.new
            };
            verify(by, &change.to_sign(account), &change.signature)?;
        }
        ControlBody::Genesis(_)
        | ControlBody::Epoch(_)
        | ControlBody::Invitation(_)
        | ControlBody::Checkpoint(_)
        | ControlBody::Link(_)
        | ControlBody::Rejoin(_)
        | ControlBody::Joined(_) => return Err(CryptoError::NotAuthentic),
    }
    Ok(json!({}))
}

fn commit(input: &Value) -> VectorResult {
    let bytes = bytes(input, "commit");
    let commit = Commit::decode(&bytes)?;
    commit.verify(id(input, "space"), &array(input, "key"))?;
    assert_eq!(commit.encode(), bytes, "a commit has one form");
    let (header, leaf) = (&commit.header, commit.leaf());
    Ok(json!({
        "history": hex::encode(header.history), "device": header.device, "own": header.own,
        "seen": header.seen, "root": hex::encode(header.root), "clock_ms": header.clock_ms,
        "statements": commit.statements.iter().map(|s| hex::encode(hash(s))).collect::<Vec<_>>(),
        "statements_root": hex::encode(leaf.statements),
        "leaf": hex::encode(hash_leaf(&leaf.encode())),
    }))
}

fn entry(bytes: &[u8]) -> VectorResult {
    let entry = ServerEntry::decode(bytes)?;
    assert_eq!(entry.encode(), bytes, "an entry has one form");
    let source = match &entry.source {
        None => Value::Null,
        Some(Source::Statement { node, statement }) => {
            json!({"node": node, "statement": hex::encode(statement)})
        }
        Some(Source::Opaque { sha256, size }) => {
            json!({"sha256": hex::encode(sha256), "size": size})
        }
    };
    Ok(json!({
        "op": bytes[2], "node": entry.node, "prev": hex::encode(entry.prev),
        "folder": entry.is_folder, "trashed": entry.is_trashed, "purged": entry.is_purged,
        "parent": entry.parent, "name": hex::encode(&entry.name), "source": source,
        "actor": entry.actor, "clock_ms": entry.clock_ms,
        "leaf": hex::encode(Frame::Entry(bytes.to_vec()).leaf()?),
    }))
}

fn page(bytes: &[u8]) -> VectorResult {
    let page = LogPage::decode(bytes)?;
    assert_eq!(page.encode(), bytes, "a page has one form");
    let mut leaves = Vec::new();
    for frame in &page.frames {
        leaves.push(hex::encode(frame.leaf()?));
    }
    Ok(json!({
        "history": hex::encode(page.history), "size": page.size, "root": hex::encode(page.root),
        "restored_at_ms": page.restored_at_ms, "restored_to": page.restored_to, "leaves": leaves,
    }))
}

fn snapshot(bytes: &[u8]) -> VectorResult {
    let (items, digest) = decode_snapshot(bytes)?;
    let hash_of = |item: &SnapshotItem| match item {
        SnapshotItem::Statement(bytes) | SnapshotItem::Entry(bytes) => hex::encode(hash(bytes)),
    };
    let items: Vec<String> = items.iter().map(hash_of).collect();
    Ok(json!({"items": items, "digest": hex::encode(digest.hash())}))
}

fn boxes(bytes: &[u8]) -> VectorResult {
    let boxes = Boxes::decode(bytes)?;
    assert_eq!(boxes.encode(), bytes, "boxes have one form");
    let all = boxes.boxes.iter().map(|one| {
        json!({"account": one.account, "number": one.number, "sealed": hex::encode(&one.sealed)})
    });
    let all: Vec<Value> = all.collect();
    let mut out = Map::new();
    out.insert("ring".to_owned(), json!(hex::encode(&boxes.ring)));
    out.insert("boxes".to_owned(), json!(all));
    out.insert("hash".to_owned(), json!(hex::encode(boxes.hash())));
    Ok(Value::Object(out))
}
