//! The fixture of these tests, the `World`: a server in memory, and callers (`owner` and `member` of a team,
//! `outsider`, `nobody`) whose requests go to its router without a socket.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cairn_model::{AccountId, ChunkId, NodeId, RevisionId, SpaceId};
use cairn_server::{Clock, DevAccess, Options, PostgresUrl, Server, build_dev_reachable};
use cairn_wire::account::AccountInfo;
use cairn_wire::nodes::Node;
use cairn_wire::transfer::{BatchFile, CompleteUpload, CreateUpload, SealedChunk, Upload};
use cairn_wire::{ErrorBody, Sealed};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use tower::ServiceExt as _;
use uuid::Uuid;

/// A server and its router.
pub(crate) struct World {
    pub(crate) app: Server,
    router: Router,
}

impl World {
    /// A development server in memory with a fixed seed and a clock that stands still.
    pub(crate) fn new() -> Self {
        Self::with(Options::ephemeral())
    }

    pub(crate) fn with(options: Options) -> Self {
        Self::with_seed(options, 1)
    }

    /// A development server whose data lie in a directory, on disk.
    pub(crate) fn stored_in(data: &Path) -> Self {
        Self::with(Options {
            data: data.to_owned(),
            ..Options::default()
        })
    }

    pub(crate) fn with_seed(options: Options, seed: u64) -> Self {
        let clock = Clock::Virtual {
            start_ms: 1_767_225_600_000,
        };
        let database = options.database.clone().or_else(|| {
            // A directory is opened again and again, and has its own.
            options.ephemeral.then(fresh_database).flatten()
        });
        let options = Options {
            seed: Some(seed),
            clock,
            database,
            ..options
        };
        // Requests name a host of their own here.
        Self::around(build_dev_reachable(options, DevAccess::Anyone).unwrap())
    }

    /// The callers of a server that was made elsewhere.
    pub(crate) fn around(app: Server) -> Self {
        Self {
            router: app.router(),
            app,
        }
    }

    pub(crate) fn owner(&self) -> Caller {
        self.caller(Some("ck_dev_owner"))
    }

    pub(crate) fn member(&self) -> Caller {
        self.caller(Some("ck_dev_member"))
    }

    pub(crate) fn outsider(&self) -> Caller {
        self.caller(Some("ck_dev_outsider"))
    }

    pub(crate) fn nobody(&self) -> Caller {
        self.caller(None)
    }

    pub(crate) fn caller(&self, token: Option<&str>) -> Caller {
        Caller {
            router: self.router.clone(),
            token: token.map(str::to_owned),
            device: None,
            space: None,
        }
    }
}

/// A schema of its own in the database of PostgreSQL that `CAIRN_TEST_POSTGRES` names, if it does.
pub(crate) fn fresh_database() -> Option<PostgresUrl> {
    let url = std::env::var("CAIRN_TEST_POSTGRES").ok()?;
    let schema = Uuid::new_v4().simple();
    Some(PostgresUrl(format!(
        "{url}?options=-csearch_path%3Dtest_{schema}"
    )))
}

/// The host that requests name; `/_dev` and the console are asked as a developer does.
fn host(path: &str) -> &'static str {
    if path.starts_with("/_dev") || path.starts_with("/console") {
        "localhost"
    } else {
        "cairn.test"
    }
}

/// Somebody who makes requests.
#[derive(Clone)]
pub(crate) struct Caller {
    router: Router,
    token: Option<String>,
    device: Option<String>,
    space: Option<String>,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl TestResponse {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| {
            panic!(
                "{}: {e}: {}",
                self.status,
                String::from_utf8_lossy(&self.body)
            )
        })
    }

    /// The body of a success.
    #[track_caller]
    pub(crate) fn ok<T: DeserializeOwned>(&self) -> T {
        assert!(
            self.status.is_success(),
            "{}: {}",
            self.status,
            String::from_utf8_lossy(&self.body)
        );
        self.json()
    }

    /// The message of a failure, whose body has to be the one of all failures.
    #[track_caller]
    pub(crate) fn failed(&self, status: u16) -> String {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        let fields: Value = self.json();
        assert_eq!(fields.as_object().unwrap().len(), 2, "{fields}");
        let body: ErrorBody = self.json();
        assert_eq!(body.code, status);
        assert!(!body.message.is_empty());
        body.message
    }

    #[track_caller]
    pub(crate) fn done(&self, status: u16) {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl Caller {
    /// The same caller in another space (file tree) than their own: that of a team.
    pub(crate) fn in_space(&self, space: SpaceId) -> Self {
        Self {
            space: Some(space.to_string()),
            ..self.clone()
        }
    }

    /// The account's id.
    pub(crate) async fn id(&self) -> AccountId {
        let info: AccountInfo = self.get("/api/v1/useraccount/composite").await.ok();
        info.id
    }

    /// The same account on a device of its own.
    pub(crate) fn on_device(&self, number: u8) -> Self {
        let id = Uuid::from_bytes([number; 16]).to_string();
        Self {
            device: Some(id),
            ..self.clone()
        }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> TestResponse {
        let response = self.open(method, path, headers, body).await;
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        TestResponse {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// Sends a request and leaves the response's body alone.
    pub(crate) async fn open(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> axum::response::Response {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, host(path));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(device) = &self.device {
            request = request.header("x-device-id", device);
        }
        if let Some(space) = &self.space {
            request = request.header("x-space-id", space);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.router
            .clone()
            .oneshot(request.body(body.into()).unwrap())
            .await
            .unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.send(Method::GET, path, &[], Body::empty()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> TestResponse {
        self.send(Method::DELETE, path, &[], Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &impl Serialize) -> TestResponse {
        self.send(Method::POST, path, &[], serde_json::to_vec(body).unwrap())
            .await
    }

    pub(crate) async fn put(&self, path: &str, body: &impl Serialize) -> TestResponse {
        self.send(Method::PUT, path, &[], serde_json::to_vec(body).unwrap())
            .await
    }

    pub(crate) async fn folder(&self, parent: Option<NodeId>, name: &str) -> Node {
        self.post(
            "/api/v1/nodes",
            &json!({"kind": "folder", "name": name, "parent_id": parent}),
        )
        .await
        .ok()
    }

    /// Uploads a small new file in one request.
    pub(crate) async fn file(&self, parent: Option<NodeId>, name: &str, content: &str) -> Node {
        self.upload(&Draft::new(name, content).inside(parent))
            .await
            .ok()
    }

    /// Uploads a draft chunk by chunk and completes it.
    pub(crate) async fn upload(&self, draft: &Draft) -> TestResponse {
        let begun = self.post("/api/v1/uploads", &draft.create()).await;
        if !begun.status.is_success() {
            return begun;
        }
        let upload: Upload = begun.ok();
        for chunk in &upload.missing {
            self.put_chunk(&upload, draft, *chunk).await.done(204);
        }
        self.complete(&upload, draft).await
    }

    pub(crate) async fn put_chunk(
        &self,
        upload: &Upload,
        draft: &Draft,
        chunk: ChunkId,
    ) -> TestResponse {
        let bytes = draft
            .chunks
            .iter()
            .find(|bytes| id_of(bytes) == chunk)
            .unwrap()
            .clone();
        let digest = digest(&bytes);
        let path = format!("/api/v1/uploads/{}/chunks/{chunk}", upload.upload_id);
        self.send(Method::PUT, &path, &[("content-digest", &digest)], bytes)
            .await
    }

    pub(crate) async fn complete(&self, upload: &Upload, draft: &Draft) -> TestResponse {
        self.post(
            &format!("/api/v1/uploads/{}/complete", upload.upload_id),
            &draft.complete(),
        )
        .await
    }

    pub(crate) async fn node(&self, id: NodeId) -> TestResponse {
        self.get(&format!("/api/v1/nodes/{id}")).await
    }

    /// A whole chunk of a node.
    pub(crate) async fn chunk(&self, node: NodeId, content: &str) -> TestResponse {
        self.get(&format!(
            "/api/v1/chunks/{}?node={node}",
            id_of(content.as_bytes())
        ))
        .await
    }
}

/// The bytes of the manifest that [`Draft::complete`] sends: each revision costs them.
pub(crate) const RECORD: u64 = 48;

/// The id that tests give to a chunk; the server does not know how it comes about.
pub(crate) fn id_of(bytes: &[u8]) -> ChunkId {
    ChunkId(Sha256::digest(bytes).into())
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(bytes)))
}

pub(crate) fn new_node() -> NodeId {
    NodeId(Uuid::new_v4())
}

pub(crate) fn new_revision() -> RevisionId {
    RevisionId(Uuid::new_v4())
}

/// A file on its way to the server.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) node: NodeId,
    pub(crate) revision: RevisionId,
    pub(crate) base: Option<RevisionId>,
    pub(crate) parent: Option<NodeId>,
    pub(crate) name: Option<String>,
    pub(crate) chunks: Vec<Bytes>,
    /// The version of the node that a new revision is made for; any without.
    pub(crate) version: Option<u64>,
}

impl Draft {
    /// A new file of one chunk.
    pub(crate) fn new(name: &str, content: &str) -> Self {
        Self {
            node: new_node(),
            revision: new_revision(),
            base: None,
            parent: None,
            name: Some(name.to_owned()),
            chunks: vec![Bytes::copy_from_slice(content.as_bytes())],
            version: None,
        }
    }

    /// A new revision of a file.
    pub(crate) fn of(node: &Node, content: &str) -> Self {
        Self {
            node: node.id,
            base: node.revision_id,
            name: None,
            ..Self::new("", content)
        }
    }

    pub(crate) fn inside(mut self, parent: Option<NodeId>) -> Self {
        self.parent = parent;
        self
    }

    pub(crate) fn chunks(mut self, contents: &[&str]) -> Self {
        self.chunks = contents
            .iter()
            .map(|text| Bytes::copy_from_slice(text.as_bytes()))
            .collect();
        self
    }

    pub(crate) fn size(&self) -> u64 {
        self.chunks.iter().map(|bytes| bytes.len() as u64).sum()
    }

    pub(crate) fn create(&self) -> CreateUpload {
        CreateUpload {
            node_id: self.node,
            revision_id: self.revision,
            base_revision_id: self.base,
            parent_id: self.parent,
            name: self.name.clone(),
            size: self.size(),
            chunks: self
                .chunks
                .iter()
                .map(|bytes| SealedChunk {
                    id: id_of(bytes),
                    size: bytes.len() as u64,
                })
                .collect(),
            copy_of: None,
        }
    }

    pub(crate) fn complete(&self) -> CompleteUpload {
        CompleteUpload {
            base_version: self.version,
            manifest: Sealed(format!("manifest of {}", self.revision).into_bytes()),
            modified_at: None,
            executable: false,
            seal: None,
        }
    }

    pub(crate) fn batch_file(&self) -> BatchFile {
        BatchFile {
            create: self.create(),
            complete: self.complete(),
        }
    }
}
