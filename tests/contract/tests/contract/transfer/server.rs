//! A server in memory, as far as transfers need one. Its responses can be altered on the way out, and its
//! requests counted: a hostile server is this one with a closure.

use async_trait::async_trait;
use bytes::Bytes;
use cairn_api::{HeaderMap, Method, Request, Response, StatusCode, Transport, TransportError};
use cairn_model::{ChunkId, Kind, NameFormat, NodeId, RevisionId, SpaceId, UploadId};
use cairn_wire::nodes::{ContentSource, Node, NodeResult, NodeResults, NodeState};
use cairn_wire::transfer::{
    BatchFile, CompleteUpload, CreateUpload, DownloadBatch, DownloadedBatch, DownloadedFile,
    RevisionContent, SealedChunk, Upload, UploadBatch,
};
use cairn_wire::{ErrorBody, Timestamp, frame};
use futures_util::StreamExt as _;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Mutex;

pub(crate) const URL: &str = "http://server.test";

/// Sees each request and may answer in the server's place.
pub(crate) type Intercept = Box<dyn FnMut(&Request) -> Option<(u16, Vec<u8>)> + Send>;
/// Sees each response and may alter it.
pub(crate) type Tamper = Box<dyn FnMut(&Request, &mut Vec<u8>) + Send>;

#[derive(Default)]
pub(crate) struct Server {
    state: Mutex<State>,
    intercept: Mutex<Option<Intercept>>,
    tamper: Mutex<Option<Tamper>>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) nodes: HashMap<NodeId, Node>,
    pub(crate) revisions: HashMap<(NodeId, RevisionId), RevisionContent>,
    pub(crate) chunks: HashMap<(NodeId, ChunkId), Bytes>,
    pub(crate) uploads: HashMap<UploadId, CreateUpload>,
    /// Bodies of all chunk uploads, in order.
    pub(crate) put: Vec<(ChunkId, Bytes)>,
    /// Method and path of all requests, in order.
    pub(crate) requests: Vec<String>,
    /// Payload bytes that fit into a download batch.
    pub(crate) batch_limit: Option<u64>,
}

type Reply = Result<Vec<u8>, u16>;

impl Server {
    pub(crate) fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    pub(crate) fn intercept(
        &self,
        with: impl FnMut(&Request) -> Option<(u16, Vec<u8>)> + Send + 'static,
    ) {
        *self.intercept.lock().unwrap() = Some(Box::new(with));
    }

    pub(crate) fn tamper(&self, with: impl FnMut(&Request, &mut Vec<u8>) + Send + 'static) {
        *self.tamper.lock().unwrap() = Some(Box::new(with));
    }

    pub(crate) fn stop_lying(&self) {
        *self.intercept.lock().unwrap() = None;
        *self.tamper.lock().unwrap() = None;
    }

    pub(crate) fn puts(&self) -> usize {
        self.state(|state| state.put.len())
    }
}

#[async_trait]
impl Transport for Server {
    async fn send(&self, request: Request) -> Result<Response, TransportError> {
        self.state(|state| {
            state
                .requests
                .push(format!("{} {}", request.method, request.path))
        });
        let instead = self
            .intercept
            .lock()
            .unwrap()
            .as_mut()
            .and_then(|intercept| intercept(&request));
        let (status, mut body) = match instead {
            Some(response) => response,
            None => match self.state(|state| state.response(&request)) {
                Ok(body) => (200, body),
                Err(status) => (
                    status,
                    json(&ErrorBody {
                        code: status,
                        message: format!("refused with {status}"),
                    })
                    .unwrap(),
                ),
            },
        };
        if let Some(tamper) = self.tamper.lock().unwrap().as_mut() {
            tamper(&request, &mut body);
        }
        let body = futures_util::stream::iter([Ok(Bytes::from(body))]).boxed();
        Ok(Response {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body,
        })
    }
}

fn json(value: &impl Serialize) -> Reply {
    Ok(serde_json::to_vec(value).unwrap())
}

impl State {
    fn response(&mut self, request: &Request) -> Reply {
        let path = request.path.split('?').next().unwrap();
        let parts: Vec<&str> = path
            .trim_start_matches("/api/v1")
            .split('/')
            .skip(1)
            .collect();
        let body = &request.body.to_bytes();
        match (&request.method, &parts[..]) {
            (&Method::POST, ["uploads"]) => {
                let create: CreateUpload = serde_json::from_slice(body).unwrap();
                self.check_base(&create)?;
                let mut bytes = create.revision_id.0.into_bytes();
                bytes[0] ^= 1;
                let id = UploadId::from_random_bytes(bytes);
                self.uploads.insert(id, create);
                self.upload(id)
            }
            (&Method::POST, ["uploads", "batch"]) => {
                let (batch, mut payload): (UploadBatch, Bytes) =
                    frame::decode(body.clone()).unwrap();
                let results = batch
                    .files
                    .into_iter()
                    .map(|file| self.commit_one(file, &mut payload))
                    .collect();
                assert!(payload.is_empty());
                json(&NodeResults { results })
            }
            (&Method::GET, ["uploads", id]) => self.upload(id.parse().unwrap()),
            (&Method::DELETE, ["uploads", id]) => self
                .uploads
                .remove(&id.parse().unwrap())
                .map(|_| Vec::new())
                .ok_or(404),
            (&Method::PUT, ["uploads", id, "chunks", chunk]) => {
                let upload = self.uploads.get(&id.parse().unwrap()).ok_or(404_u16)?;
                let chunk: ChunkId = chunk.parse().unwrap();
                let announced = upload
                    .chunks
                    .iter()
                    .find(|c| c.id == chunk)
                    .ok_or(400_u16)?;
                assert_eq!(announced.size, body.len() as u64);
                self.chunks.insert((upload.node_id, chunk), body.clone());
                self.put.push((chunk, body.clone()));
                Ok(Vec::new())
            }
            (&Method::POST, ["uploads", id, "complete"]) => {
                let id = id.parse().unwrap();
                let create = self.uploads.get(&id).cloned().ok_or(404_u16)?;
                let node = self.commit(create, serde_json::from_slice(body).unwrap())?;
                self.uploads.remove(&id);
                json(&node)
            }
            (&Method::GET, ["nodes", id]) => {
                json(self.nodes.get(&id.parse().unwrap()).ok_or(404_u16)?)
            }
            (&Method::GET, ["nodes", node, "revisions", revision, "manifest"]) => json(
                self.revisions
                    .get(&(node.parse().unwrap(), revision.parse().unwrap()))
                    .ok_or(404_u16)?,
            ),
            (&Method::GET, ["chunks", id]) => {
                let node = request.path.split("node=").nth(1).unwrap().parse().unwrap();
                self.chunks
                    .get(&(node, id.parse().unwrap()))
                    .map(|chunk| chunk.to_vec())
                    .ok_or(404)
            }
            (&Method::POST, ["downloads", "batch"]) => {
                let (head, payload) = self.download_batch(&serde_json::from_slice(body).unwrap());
                Ok(frame::encode(&head, &payload).unwrap().to_vec())
            }
            other => panic!("there is no {other:?}"),
        }
    }

    fn upload(&self, id: UploadId) -> Reply {
        let create = self.uploads.get(&id).ok_or(404_u16)?;
        let mut missing: Vec<ChunkId> = Vec::new();
        for chunk in &create.chunks {
            if !self.chunks.contains_key(&(create.node_id, chunk.id))
                && !missing.contains(&chunk.id)
            {
                missing.push(chunk.id);
            }
        }
        json(&Upload {
            upload_id: id,
            node_id: create.node_id,
            revision_id: create.revision_id,
            missing,
            chunk_url: URL.to_owned(),
            expires_at: Timestamp(0),
        })
    }

    fn check_base(&self, create: &CreateUpload) -> Result<(), u16> {
        let head = self
            .nodes
            .get(&create.node_id)
            .and_then(|node| node.revision_id);
        let taken = |node: &Node| {
            Some(&node.name) == create.name.as_ref() && node.parent_id == create.parent_id
        };
        let name_taken = create.base_revision_id.is_none() && self.nodes.values().any(taken);
        if head == create.base_revision_id && !name_taken {
            Ok(())
        } else {
            Err(409)
        }
    }

    fn commit(&mut self, create: CreateUpload, complete: CompleteUpload) -> Result<Node, u16> {
        self.check_base(&create)?;
        let mut node = self
            .nodes
            .remove(&create.node_id)
            .unwrap_or_else(|| new_node(&create));
        node.revision_id = Some(create.revision_id);
        node.content_source = None;
        node.size = create.size;
        node.version += 1;
        node.seal = complete.seal;
        node.executable = complete.executable;
        node.modified_at = complete.modified_at;
        let mut chunks: Vec<SealedChunk> = Vec::new();
        for chunk in create.chunks {
            assert!(
                self.chunks.contains_key(&(node.id, chunk.id)),
                "committed without {chunk:?}"
            );
            if !chunks.contains(&chunk) {
                chunks.push(chunk);
            }
        }
        let content = RevisionContent {
            node_id: node.id,
            revision_id: create.revision_id,
            content_source: None,
            manifest: complete.manifest,
            chunks,
        };
        self.revisions
            .insert((node.id, create.revision_id), content);
        self.nodes.insert(node.id, node.clone());
        Ok(node)
    }

    fn commit_one(&mut self, file: BatchFile, payload: &mut Bytes) -> NodeResult {
        for chunk in &file.create.chunks {
            let sealed = payload.split_to(usize::try_from(chunk.size).unwrap());
            self.chunks.insert((file.create.node_id, chunk.id), sealed);
        }
        match self.commit(file.create, file.complete) {
            Ok(node) => NodeResult {
                status: 201,
                node: Some(node),
                error: None,
            },
            Err(status) => {
                let error = Some(ErrorBody {
                    code: status,
                    message: "refused".to_owned(),
                });
                NodeResult {
                    status,
                    node: None,
                    error,
                }
            }
        }
    }

    fn download_batch(&self, batch: &DownloadBatch) -> (DownloadedBatch, Vec<Bytes>) {
        let mut payload = Vec::new();
        let mut room = self.batch_limit.unwrap_or(8 << 20);
        let failed = |code: u16| DownloadedFile {
            status: code,
            content: None,
            error: Some(ErrorBody {
                code,
                message: "refused".to_owned(),
            }),
        };
        let mut files = Vec::new();
        for file in &batch.files {
            let Some(content) = self.revisions.get(&(file.node_id, file.revision_id)) else {
                files.push(failed(404));
                continue;
            };
            if batch.content {
                let size: u64 = content.chunks.iter().map(|chunk| chunk.size).sum();
                let Some(left) = room.checked_sub(size) else {
                    files.push(failed(413));
                    continue;
                };
                room = left;
                let sealed = content
                    .chunks
                    .iter()
                    .map(|chunk| self.chunks[&(content.node_id, chunk.id)].clone());
                payload.extend(sealed);
            }
            files.push(DownloadedFile {
                status: 200,
                content: Some(content.clone()),
                error: None,
            });
        }
        (DownloadedBatch { files }, payload)
    }

    /// Copies a file without any key, as a web page would.
    pub(crate) fn copy(&mut self, from: NodeId, to: NodeId) -> ContentSource {
        let mut node = self.nodes[&from].clone();
        let source = ContentSource {
            node_id: from,
            revision_id: node.revision_id.unwrap(),
        };
        let revision = RevisionId::from_random_bytes(to.0.into_bytes());
        let mut content = self.revisions[&(from, source.revision_id)].clone();
        for chunk in &content.chunks {
            let sealed = self.chunks[&(from, chunk.id)].clone();
            self.chunks.insert((to, chunk.id), sealed);
        }
        content.content_source = Some(source);
        self.revisions.insert((to, revision), content);
        node.id = to;
        node.name = "copy".to_owned();
        node.revision_id = Some(revision);
        node.content_source = Some(source);
        node.seal = None;
        self.nodes.insert(to, node);
        source
    }
}

fn new_node(create: &CreateUpload) -> Node {
    Node {
        id: create.node_id,
        space_id: SpaceId::from_random_bytes([1; 16]),
        parent_id: create.parent_id,
        kind: Kind::File,
        name: create.name.clone().unwrap(),
        name_format: NameFormat::Plain,
        size: 0,
        mime_type: None,
        category: None,
        state: NodeState::Active,
        revision_id: None,
        content_source: None,
        version: 0,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        modified_at: None,
        executable: false,
        description: String::new(),
        labels: std::collections::BTreeMap::new(),
        tags: Vec::new(),
        favorite: false,
        seal: None,
        seq: 0,
        device_id: None,
    }
}
