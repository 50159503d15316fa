//! One client and one server, and files made of seeded bytes.

use crate::transfer::server::{Server, URL};
use cairn_api::{Api, ApiKey, RetryPolicy};
use cairn_crypto::format2::Chunker;
use cairn_crypto::{Random, SpaceKeys, manifest_hash};
use cairn_model::{BackOff, ChunkId, DeviceId, Manifest, NodeId, RevisionId, SpaceId};
use cairn_transfer::{
    Blocking, BytesSource, Download, Limits, MemoryTarget, Options, Progress, ResumableUpload,
    SmallUpload, Transfer, TransferError, Upload, UploadTarget, Uploaded,
};
use cairn_wire::nodes::Node;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) struct World {
    pub(crate) server: Arc<Server>,
    pub(crate) keys: Arc<SpaceKeys>,
    pub(crate) transfer: Transfer,
}

pub(crate) struct Numbers(pub(crate) u64);

impl Random for Numbers {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            *byte = self.0.to_be_bytes()[1];
        }
    }
}

impl World {
    pub(crate) fn new(blocking: Blocking) -> Self {
        let keys = SpaceKeys::from_raw(SpaceId::from_random_bytes([1; 16]), 1, &[7; 32]).unwrap();
        Self::with(Arc::default(), Arc::new(keys), blocking)
    }

    /// Another client of a server that there is.
    pub(crate) fn with(server: Arc<Server>, keys: Arc<SpaceKeys>, blocking: Blocking) -> Self {
        let device = DeviceId::from_random_bytes([3; 16]);
        let once = RetryPolicy {
            tries: 1,
            back_off: BackOff {
                first: Duration::ZERO,
                most: Duration::ZERO,
            },
            longest_retry_after: Duration::ZERO,
            after_silence: true,
        };
        let api = Api::new(
            server.clone(),
            URL,
            None,
            Arc::new(ApiKey::new("key")),
            device,
        )
        .unwrap()
        .with_retry(once);
        let options = Options {
            limits: Arc::new(Limits::default()),
            blocking,
            random: Box::new(Numbers(0x1234_5678_9abc)),
        };
        let transfer = Transfer::new(Arc::new(api), keys.clone(), device, options);
        Self {
            server,
            keys,
            transfer,
        }
    }

    pub(crate) async fn put(&self, upload: Upload) -> Result<Uploaded, TransferError> {
        self.transfer.upload(upload, &()).await
    }

    /// The objects of a revision as the server has them: chunks in file order, then the lists of them.
    pub(crate) fn objects(&self, of: (NodeId, RevisionId)) -> Vec<ChunkId> {
        let stored = self
            .server
            .state(|state| state.revisions[&of].chunks.clone());
        stored.into_iter().map(|chunk| chunk.id).collect()
    }

    /// The lengths of the chunks that a node's content is cut into.
    pub(crate) fn lengths(&self, node: NodeId, content: &[u8]) -> Vec<usize> {
        let chunker = Chunker::new(&self.keys.node_key(node));
        let (mut rest, mut lengths) = (content, Vec::new());
        while let Some(length) = chunker.cut(rest, true) {
            rest = &rest[length..];
            lengths.push(length);
        }
        lengths
    }

    pub(crate) async fn get(
        &self,
        download: Download,
    ) -> Result<(Manifest, Vec<u8>), TransferError> {
        let target = Arc::new(MemoryTarget::default());
        let manifest = self
            .transfer
            .download(download, target.clone(), &())
            .await?;
        Ok((manifest, target.take()))
    }
}

pub(crate) fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

pub(crate) fn revision(n: u8) -> RevisionId {
    RevisionId::from_random_bytes([n; 16])
}

pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    Numbers(seed + 1).fill(&mut out);
    out
}

pub(crate) fn new_file(n: u8) -> UploadTarget {
    UploadTarget::New {
        node: node(n),
        parent: None,
        name: format!("file {n}"),
    }
}

/// A new revision of what the server has.
pub(crate) fn next_revision(node: &Node, number: u64) -> UploadTarget {
    UploadTarget::Revision {
        node: node.id,
        parent: node.parent_id,
        name: node.name.clone(),
        base: node.revision_id.unwrap(),
        number,
        replaced: None,
        seal_seq: number,
        version: None,
    }
}

/// Returns a target as [`next_revision`] does, of content that the caller names as replaced.
pub(crate) fn next_of(world: &World, node: &Node, number: u64) -> UploadTarget {
    let revision = node.revision_id.unwrap();
    let sealed = world
        .server
        .state(|state| state.revisions[&(node.id, revision)].manifest.0.clone());
    let content = Download {
        source: node.content_source,
        manifest_hash: Some(manifest_hash(&sealed)),
        ..Download::new(node.id, revision)
    };
    let mut target = next_revision(node, number);
    if let UploadTarget::Revision { replaced, .. } = &mut target {
        *replaced = Some(content);
    }
    target
}

pub(crate) fn upload(target: UploadTarget, revision: RevisionId, content: &[u8]) -> Upload {
    Upload {
        target,
        revision,
        source: Arc::new(BytesSource(content.to_vec().into())),
        size: content.len() as u64,
        modified_ms: 1_767_323_045_678,
        executable: false,
        skip_if: None,
        resume: None,
    }
}

pub(crate) fn small_upload(
    target: UploadTarget,
    revision: RevisionId,
    bytes: Vec<u8>,
) -> SmallUpload {
    SmallUpload {
        target,
        revision,
        bytes,
        modified_ms: 1,
        executable: true,
        skip_if: None,
    }
}

pub(crate) fn unwrap_committed(uploaded: Result<Uploaded, TransferError>) -> (Node, Manifest) {
    match uploaded.unwrap() {
        Uploaded::Committed { node, manifest } => (*node, *manifest),
        Uploaded::Unchanged => panic!("nothing was uploaded"),
    }
}

/// Remembers what a transfer told.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) started: Mutex<Vec<ResumableUpload>>,
    pub(crate) moved: Mutex<Vec<(u64, u64)>>,
}

impl Heard {
    pub(crate) fn last_started(&self) -> ResumableUpload {
        self.started.lock().unwrap().last().unwrap().clone()
    }
}

impl Progress for Heard {
    fn on_start(&self, started: &ResumableUpload) {
        self.started.lock().unwrap().push(started.clone());
    }

    fn on_progress(&self, done: u64, total: u64) {
        self.moved.lock().unwrap().push((done, total));
    }
}

/// A world whose server has one file.
pub(crate) async fn with_file(blocking: Blocking, content: &[u8]) -> (World, Manifest) {
    let world = World::new(blocking);
    let (_, manifest) =
        unwrap_committed(world.put(upload(new_file(1), revision(1), content)).await);
    (world, manifest)
}
