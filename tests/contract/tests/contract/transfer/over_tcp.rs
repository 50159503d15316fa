//! Transfers over TCP to the bundled server: as with the server in memory, but over a real connection.

use crate::support::KeyHolder;
use crate::transfer::world::next_revision;
use cairn_api::{Api, ApiError};
use cairn_crypto::{NodeFacts, NodeSeal, SpaceKeys, content_hash, manifest_hash};
use cairn_model::{Kind, NodeId, RevisionId};
use cairn_transfer::{
    BytesSource, Download, FileTarget, Limits, MemoryTarget, Options, Progress, ResumableUpload,
    SmallUpload, Target as _, Transfer, TransferError, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::Node;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

const MIB: usize = 1024 * 1024;

struct World {
    holder: KeyHolder,
    api: Arc<Api>,
    keys: Arc<SpaceKeys>,
    transfer: Transfer,
}

impl World {
    async fn new() -> Self {
        let holder = KeyHolder::new().await;
        Self {
            api: holder.api.clone(),
            keys: holder.keys.clone(),
            transfer: holder.transfer(),
            holder,
        }
    }

    async fn put(&self, upload: Upload) -> Result<Node, TransferError> {
        match self.transfer.upload(upload, &()).await? {
            Uploaded::Committed { node, .. } => Ok(*node),
            Uploaded::Unchanged => panic!("nothing was uploaded"),
        }
    }

    async fn get(&self, node: &Node) -> Vec<u8> {
        let target = Arc::new(MemoryTarget::default());
        self.transfer
            .download(current(node), target.clone(), &())
            .await
            .unwrap();
        target.take()
    }

    fn sent_bytes(&self) -> u64 {
        self.api.counters().snapshot().sent
    }
}

fn current(node: &Node) -> Download {
    Download {
        source: node.content_source,
        ..Download::new(node.id, node.revision_id.unwrap())
    }
}

fn id(n: u32) -> [u8; 16] {
    let mut id = [1; 16];
    id[..4].copy_from_slice(&n.to_be_bytes());
    id
}

fn new_file(n: u32) -> UploadTarget {
    UploadTarget::New {
        node: NodeId::from_random_bytes(id(n)),
        parent: None,
        name: format!("file {n}.bin"),
    }
}

fn upload(target: UploadTarget, n: u32, content: &[u8]) -> Upload {
    Upload {
        target,
        revision: RevisionId::from_random_bytes(id(n)),
        source: Arc::new(BytesSource(content.to_vec().into())),
        size: content.len() as u64,
        modified_ms: 1_767_323_045_678,
        executable: true,
        skip_if: None,
        resume: None,
    }
}

fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed + 1;
    let mut out = Vec::with_capacity(length + 8);
    while out.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes());
    }
    out.truncate(length);
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_every_size_come_back_and_their_nodes_are_sealed() {
    let world = World::new().await;
    for (n, length) in [0, 1, 256 * 1024, 256 * 1024 + 1, 9 * MIB + 7]
        .into_iter()
        .enumerate()
    {
        let n = n as u32;
        let content = bytes(u64::from(n), length);
        let node = world.put(upload(new_file(n), n, &content)).await.unwrap();
        assert_eq!((node.size, node.executable), (length as u64, true));
        assert_eq!(node.modified_at.unwrap().0, 1_767_323_045_678);
        let facts = NodeFacts {
            node: node.id,
            parent: node.parent_id,
            name: &node.name,
            kind: Kind::File,
            executable: true,
            deleted: false,
        };
        let info = NodeSeal::check(&world.keys, &facts, &node.seal.as_ref().unwrap().0).unwrap();
        let stored = world
            .api
            .manifest(node.id, node.revision_id.unwrap())
            .await
            .unwrap();
        assert_eq!(info.manifest_hash, Some(manifest_hash(&stored.manifest.0)));
        assert!(world.get(&node).await == content, "{length} bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_edit_in_a_big_file_sends_little() {
    let world = World::new().await;
    let mut content = bytes(1, 24 * MIB);
    let first = world.put(upload(new_file(1), 1, &content)).await.unwrap();
    content[12 * MIB..12 * MIB + 16].copy_from_slice(b"sixteen new ones");
    let before = world.sent_bytes();
    let second = world
        .put(upload(next_revision(&first, 2), 2, &content))
        .await
        .unwrap();
    let sent = world.sent_bytes() - before;
    assert!(sent < 2_500_000, "{sent} bytes were sent");
    assert!(world.get(&second).await == content);
    let late = world
        .put(upload(next_revision(&first, 2), 3, b"late"))
        .await
        .unwrap_err();
    let TransferError::Api(ApiError::Conflict { head, .. }) = late else {
        panic!("{late:?}")
    };
    assert_eq!(head, second.revision_id);
    let duplicate = UploadTarget::New {
        node: NodeId::from_random_bytes(id(9)),
        parent: None,
        name: first.name.clone(),
    };
    let taken = world
        .put(upload(duplicate, 9, b"duplicate"))
        .await
        .unwrap_err();
    assert!(
        matches!(taken, TransferError::Api(ApiError::Conflict { .. })),
        "{taken:?}"
    );
}

/// Says when so many bytes are across.
struct Until {
    bytes: u64,
    reached: Notify,
    started: Mutex<Option<ResumableUpload>>,
}

impl Progress for Until {
    fn on_start(&self, started: &ResumableUpload) {
        *self.started.lock().unwrap() = Some(started.clone());
    }

    fn on_progress(&self, done: u64, _total: u64) {
        if done >= self.bytes {
            self.reached.notify_one();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_was_dropped_goes_on_where_it_was() {
    let world = World::new().await;
    let content = bytes(1, 24 * MIB);
    let until = Until {
        bytes: 12 * MIB as u64,
        reached: Notify::new(),
        started: Mutex::default(),
    };
    tokio::select! {
        done = world.transfer.upload(upload(new_file(1), 1, &content), &until) => panic!("{done:?}"),
        () = until.reached.notified() => {}
    }
    let resume = until.started.lock().unwrap().clone();
    assert!(resume.is_some());
    let before = world.sent_bytes();
    let node = world
        .put(Upload {
            resume: resume.clone(),
            ..upload(new_file(1), 1, &content)
        })
        .await
        .unwrap();
    let sent = world.sent_bytes() - before;
    assert!(sent < 13 * MIB as u64, "{sent} bytes were sent again");
    assert!(world.get(&node).await == content);

    // The same once more: it is committed, and says so.
    for resume in [resume, None] {
        let before = world.sent_bytes();
        let again = world
            .put(Upload {
                resume,
                ..upload(new_file(1), 1, &content)
            })
            .await
            .unwrap();
        assert_eq!(
            (again.id, again.revision_id, again.version),
            (node.id, node.revision_id, node.version)
        );
        assert!(world.sent_bytes() - before < 100_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_was_dropped_goes_on_where_it_was() {
    let world = World::new().await;
    let content = bytes(1, 24 * MIB);
    let node = world.put(upload(new_file(1), 1, &content)).await.unwrap();
    let target = Arc::new(FileTarget::new(tempfile::tempfile().unwrap()));
    let until = Until {
        bytes: 12 * MIB as u64,
        reached: Notify::new(),
        started: Mutex::default(),
    };
    tokio::select! {
        done = world.transfer.download(current(&node), target.clone(), &until) => panic!("{done:?}"),
        () = until.reached.notified() => {}
    }
    let before = world.api.counters().snapshot().received;
    let manifest = world
        .transfer
        .download(current(&node), target.clone(), &())
        .await
        .unwrap();
    let received = world.api.counters().snapshot().received - before;
    assert!(received < 13 * MIB as u64, "{received} bytes came again");
    assert_eq!(manifest.hash, content_hash(&content));
    let mut read = vec![0; content.len()];
    target.read_at(0, &mut read).unwrap();
    assert!(read == content);
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_go_up_twice_without_harm_and_come_down() {
    let world = World::new().await;
    let files: Vec<SmallUpload> = (0..300)
        .map(|n| SmallUpload {
            target: new_file(n),
            revision: RevisionId::from_random_bytes(id(n)),
            bytes: bytes(u64::from(n), n as usize * 37),
            modified_ms: 5,
            executable: false,
            skip_if: None,
        })
        .collect();
    let mut nodes = BTreeMap::new();
    for round in 0..2 {
        let numbered = files.iter().cloned().enumerate();
        let sent = world.transfer.upload_batch(numbered.collect(), &()).await;
        nodes = sent
            .into_iter()
            .map(|(i, result)| match result.unwrap() {
                Uploaded::Committed { node, .. } => (i, *node),
                Uploaded::Unchanged => panic!("nothing was uploaded"),
            })
            .collect();
        assert_eq!(nodes.len(), 300, "round {round}");
        assert!(
            nodes
                .values()
                .all(|node: &Node| node.version == nodes[&0].version)
        );
    }
    let downloads: Vec<(usize, Download)> =
        nodes.iter().map(|(i, node)| (*i, current(node))).collect();
    let manifests = world.transfer.manifests(downloads.clone()).await;
    let mut manifests: BTreeMap<_, _> = manifests.into_iter().collect();
    let downloaded = world.transfer.download_batch(downloads, 0, &()).await;
    assert_eq!(downloaded.len(), 300);
    for (i, downloaded) in downloaded {
        let (same, content) = downloaded.unwrap();
        assert_eq!(manifests.remove(&i).unwrap().unwrap(), same);
        assert_eq!(content, files[i].bytes);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_made_without_keys_opens_and_takes_revisions_of_its_own() {
    let world = World::new().await;
    let original = world
        .put(upload(new_file(1), 1, b"the original"))
        .await
        .unwrap();
    let copy = cairn_wire::nodes::CopyNode {
        id: Some(NodeId::from_random_bytes(id(2))),
        parent_id: None,
        name: Some("copy".to_owned()),
        seal: None,
    };
    let copied = world.api.copy_node(original.id, None, &copy).await.unwrap();
    assert!(copied.content_source.is_some());
    assert_eq!(world.get(&copied).await, b"the original");
    assert_eq!(
        world
            .transfer
            .download_batch(vec![((), current(&copied))], 0, &())
            .await
            .remove(0)
            .1
            .unwrap()
            .1,
        b"the original"
    );
    let edited = world
        .put(upload(next_revision(&copied, 2), 3, b"an edited copy"))
        .await
        .unwrap();
    assert_eq!(edited.content_source, None);
    assert_eq!(world.get(&edited).await, b"an edited copy");
    assert_eq!(world.get(&original).await, b"the original");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_revision_of_a_copy_uses_the_chunks_of_the_original() {
    let world = World::new().await;
    let mut content = bytes(1, 9 * MIB);
    let original = world.put(upload(new_file(1), 1, &content)).await.unwrap();
    let copy = cairn_wire::nodes::CopyNode {
        id: Some(NodeId::from_random_bytes(id(2))),
        parent_id: None,
        name: Some("copy".to_owned()),
        seal: None,
    };
    let copied = world.api.copy_node(original.id, None, &copy).await.unwrap();
    content[4 * MIB] ^= 1;
    let sealed = world
        .api
        .manifest(copied.id, copied.revision_id.unwrap())
        .await
        .unwrap();
    let mut target = next_revision(&copied, 2);
    if let UploadTarget::Revision { replaced, .. } = &mut target {
        *replaced = Some(Download {
            manifest_hash: Some(manifest_hash(&sealed.manifest.0)),
            ..current(&copied)
        });
    }
    let before = world.sent_bytes();
    let edited = world.put(upload(target, 3, &content)).await.unwrap();
    let sent = world.sent_bytes() - before;
    assert!(sent < 5_000_000, "{sent} bytes were sent");
    assert!(world.get(&edited).await == content);

    // The copy keeps what it uses of the original, and a copy of the copy too.
    for node in [&copied, &original] {
        let again = cairn_wire::nodes::CopyNode {
            id: None,
            name: Some(format!("again {}", node.id)),
            ..copy.clone()
        };
        let made = world.api.copy_node(edited.id, None, &again).await.unwrap();
        assert!(world.get(&made).await == content);
    }
    world
        .api
        .delete_node(original.id, None, None)
        .await
        .unwrap();
    world.api.empty_trash().await.unwrap();
    assert!(world.get(&edited).await == content);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_the_server_keeps_is_plaintext() {
    let world = World::new().await;
    let sentence = b"a sentence that nobody else may read; ";
    let content = sentence.repeat(20_000);
    world.put(upload(new_file(1), 1, &content)).await.unwrap();
    let small = SmallUpload {
        target: new_file(2),
        revision: RevisionId::from_random_bytes(id(2)),
        bytes: sentence.to_vec(),
        modified_ms: 5,
        executable: false,
        skip_if: None,
    };
    world
        .transfer
        .upload_batch(vec![((), small)], &())
        .await
        .remove(0)
        .1
        .unwrap();
    let (mut folders, mut searched) = (vec![world.holder.server_data().to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let stored = std::fs::read(&path).unwrap();
            searched += stored.len();
            assert!(
                !stored.windows(12).any(|window| window == &sentence[2..14]),
                "{}",
                path.display()
            );
        }
    }
    assert!(
        searched > content.len() / 2,
        "only {searched} bytes were found"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_can_be_lifted_in_the_middle_of_a_transfer() {
    let world = World::new().await;
    let limits = Arc::new(Limits::new(Some(1), None));
    let options = Options {
        limits: limits.clone(),
        ..Options::default()
    };
    let device = world.api.device();
    let slow = Transfer::new(world.api.clone(), world.keys.clone(), device, options);
    let until = Arc::new(Until {
        bytes: 1,
        reached: Notify::new(),
        started: Mutex::default(),
    });
    let uploading = tokio::spawn({
        let (until, content) = (until.clone(), bytes(1, 8 * MIB));
        async move { slow.upload(upload(new_file(1), 1, &content), &*until).await }
    });
    until.reached.notified().await;
    assert!(!uploading.is_finished());
    limits.set_up(None);
    uploading.await.unwrap().unwrap();
}
