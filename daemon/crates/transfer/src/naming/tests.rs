//! Chunks that the service has keep their objects; new ones are sealed under the file's own key.

use super::*;
use cairn_crypto::format2::ROWS_PER_PART;
use cairn_crypto::{SpaceKeys, content_hash};
use cairn_model::{NodeId, SpaceId};

fn key(node: u8, epoch: u32) -> NodeKey {
    let space = SpaceId::from_random_bytes([1; 16]);
    let keys = SpaceKeys::from_raw(space, epoch, &[7; 32]).unwrap();
    keys.node_key(NodeId::from_random_bytes([node; 16]))
}

fn name_chunks(own: &NodeKey, known: KnownChunks, plains: &[&[u8]]) -> Named {
    let mut naming = Naming::new(own.clone(), known, Compression::On, KEPT);
    for plain in plains {
        naming.chunk(plain, content_hash(plain).0).unwrap();
    }
    naming.finish()
}

fn list_of(keys: Vec<NodeKey>, list: List) -> ChunkList {
    ChunkList::with_keys(list, keys)
}

fn stored_chunks(named: &mut Named, key: &NodeKey) -> Vec<SealedChunk> {
    named.plan(key).unwrap().announced
}

#[test]
fn chunks_of_the_revision_before_are_not_sealed_again() {
    let (old, new) = (key(1, 1), key(1, 2));
    let mut before = name_chunks(&old, KnownChunks::default(), &[b"one", b"two", b"three"]);
    let there = stored_chunks(&mut before, &old);
    let list = list_of(vec![old.clone()], before.list.clone());
    let known = KnownChunks::of(&list, &there, new.at());
    let mut after = name_chunks(&new, known, &[b"one", b"new", b"three", b"new"]);
    let keys: Vec<NodeKeyRef> = after
        .list
        .rows
        .iter()
        .map(|row| after.list.keys[usize::from(row.key)])
        .collect();
    assert_eq!(keys, [old.at(), new.at(), old.at(), new.at()]);
    assert_eq!(after.list.rows[0].id, before.list.rows[0].id);
    assert_eq!(after.list.keys[usize::from(after.list.cut)], old.at());
    // What is new comes once, beside the list.
    assert_eq!(after.kept.len(), 1);
    assert_eq!(stored_chunks(&mut after, &new).len(), 4);
    assert_eq!(after.kept.len(), 2);
}

#[test]
fn a_chunk_whose_size_the_service_does_not_tell_is_sealed_again() {
    let own = key(1, 1);
    let mut before = name_chunks(&own, KnownChunks::default(), &[b"one", b"two"]);
    let mut there = stored_chunks(&mut before, &own);
    there.remove(0);
    let list = list_of(vec![own.clone()], before.list.clone());
    let after = name_chunks(
        &own,
        KnownChunks::of(&list, &there, own.at()),
        &[b"one", b"two"],
    );
    // The key is the same, so the object is too.
    assert_eq!(after.list.rows, before.list.rows);
    assert!(after.kept.contains_key(&chunk_id(&before.list.rows[0].id)));
    assert!(!after.kept.contains_key(&chunk_id(&before.list.rows[1].id)));
}

/// A list whose table of keys is full: one chunk under each key.
struct Full {
    list: ChunkList,
    there: Vec<SealedChunk>,
    plains: Vec<Vec<u8>>,
}

impl Full {
    fn new(keys: &[NodeKey], cut: u8) -> Self {
        let plains: Vec<Vec<u8>> = (0..255_u32).map(|n| n.to_be_bytes().to_vec()).collect();
        let mut list = List {
            keys: keys.iter().map(NodeKey::at).collect(),
            cut,
            rows: Vec::new(),
        };
        let mut there = Vec::new();
        for (at, (key, plain)) in keys.iter().zip(&plains).enumerate() {
            let sealed = key.seal_chunk(plain, Compression::Off).unwrap();
            there.push(SealedChunk {
                id: chunk_id(&sealed.id),
                size: sealed.bytes.len() as u64,
            });
            list.rows.push(ChunkRow {
                key: at as u8,
                id: sealed.id,
                length: 4,
                hash: content_hash(plain).0,
            });
        }
        Self {
            list: list_of(keys.to_vec(), list),
            there,
            plains,
        }
    }

    fn name_under(&self, own: &NodeKey) -> Named {
        let known = KnownChunks::of(&self.list, &self.there, own.at());
        let plains: Vec<&[u8]> = self.plains.iter().map(Vec::as_slice).collect();
        name_chunks(own, known, &plains)
    }
}

#[test]
fn a_full_table_of_keys_loses_its_oldest() {
    let keys: Vec<NodeKey> = (1..=255).map(|epoch| key(1, epoch)).collect();
    let own = key(1, 256);
    let mut after = Full::new(&keys, 7).name_under(&own);
    assert_eq!(after.list.keys.len(), 255);
    assert!(!after.list.keys.contains(&keys[0].at()));
    assert_eq!(after.kept.len(), 1, "one chunk was sealed again");
    assert!(after.plan(&own).is_ok());
}

#[test]
fn a_full_table_keeps_the_key_that_the_file_was_cut_with_unless_it_is_the_oldest() {
    let own = key(1, 256);
    // The chunks of a copy: all under keys of other nodes, that of the cuts included.
    for (epoch_of_cut, keeps) in [(255, true), (1, false)] {
        let mut keys: Vec<NodeKey> = (2..=255).map(|epoch| key(2, epoch)).collect();
        keys.push(key(3, epoch_of_cut));
        let mut after = Full::new(&keys, 254).name_under(&own);
        let cut = if keeps { &keys[254] } else { &own };
        assert_eq!(after.list.keys[usize::from(after.list.cut)], cut.at());
        assert_eq!(after.list.keys.len(), 255);
        assert_eq!(after.list.keys.contains(&keys[254].at()), keeps);
        assert_eq!(after.kept.len(), 1, "one chunk was sealed again");
        assert!(after.plan(&own).is_ok());
    }
}

#[test]
fn chunks_that_were_taken_over_are_not_taken_for_reproducible() {
    let own = key(1, 1);
    let text = b"the same words again and again; ".repeat(100);
    let mut before = name_chunks(&own, KnownChunks::default(), &[&text, b"two"]);
    let there = stored_chunks(&mut before, &own);
    let rows = before.list.rows.clone();
    assert!(rows.iter().all(|row| before.is_reproducible(&row.id)));
    let list = list_of(vec![own.clone()], before.list.clone());
    let known = KnownChunks::of(&list, &there, own.at());
    let after = name_chunks(&own, known, &[&text, b"new"]);
    assert!(!after.is_reproducible(&rows[0].id));
    assert!(after.is_reproducible(&after.list.rows[1].id));
}

#[test]
fn the_first_bytes_of_a_mailbox_leave_all_of_it_as_it_is() {
    let own = key(1, 1);
    let text = b"the same words again and again; ".repeat(100);
    let mail = [&b"From alice@example.org Mon Nov 23\n"[..], &text].concat();
    let lengths = |plains: &[&[u8]]| {
        let named = name_chunks(&own, KnownChunks::default(), plains);
        let length = |row: &ChunkRow| named.kept[&chunk_id(&row.id)].len();
        named.list.rows.iter().map(length).collect::<Vec<_>>()
    };
    let mailbox = lengths(&[&mail, &text]);
    assert!(mailbox[0] > mail.len() && mailbox[1] > text.len());
    let letter = lengths(&[&text, &mail]);
    assert!(letter[0] < text.len() / 2 && letter[1] < mail.len() / 2);
}

#[test]
fn a_list_of_more_chunks_than_a_part_has_is_announced_in_parts() {
    let own = key(1, 1);
    let plains: Vec<[u8; 4]> = (0..ROWS_PER_PART as u32 + 5)
        .map(u32::to_be_bytes)
        .collect();
    let plains: Vec<&[u8]> = plains.iter().map(|plain| &plain[..]).collect();
    let mut named = name_chunks(&own, KnownChunks::default(), &plains);
    let planned = named.plan(&own).unwrap();
    assert!(planned.content.is_list);
    // Two parts and the list of them.
    assert_eq!(planned.announced.len(), plains.len() + 3);
    assert_eq!(planned.announced.last().unwrap().id, planned.content.id);
    for one in &planned.announced {
        assert_eq!(named.kept[&one.id].len() as u64, one.size);
    }
}

#[test]
fn an_empty_file_is_one_chunk() {
    let own = key(1, 1);
    let mut named = name_chunks(&own, KnownChunks::default(), &[b""]);
    let planned = named.plan(&own).unwrap();
    assert!(!planned.content.is_list);
    assert_eq!(planned.announced.len(), 1);
    assert_eq!(planned.content.id, planned.announced[0].id);
}
