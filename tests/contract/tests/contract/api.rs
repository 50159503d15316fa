//! The client against the bundled server, over a real connection.

mod world;

use bytes::Bytes;
use cairn_api::{ApiError, RetryPolicy};
use cairn_model::{BackOff, ChunkId, DeviceId, Kind, NodeId, RevisionId};
use cairn_wire::Sealed;
use cairn_wire::account::{CreateApiKey, Device};
use cairn_wire::changes::ChangeKind;
use cairn_wire::keys::{KdfParams, KeyBundle, PutKeys};
use cairn_wire::nodes::{CopyNode, CreateNode, ListNodes, NodeBatch, NodeOperation, UpdateNode};
use cairn_wire::transfer::{
    BatchFile, CompleteUpload, CreateUpload, DownloadBatch, DownloadFile, SealedChunk, UploadBatch,
};
use futures_util::StreamExt as _;
use serde_json::json;
use std::time::{Duration, Instant};
use world::World;

fn node(n: u8) -> NodeId {
    NodeId::from_random_bytes([n; 16])
}

fn revision(n: u8) -> RevisionId {
    RevisionId::from_random_bytes([n; 16])
}

fn folder(n: u8, parent: Option<NodeId>, name: &str) -> CreateNode {
    CreateNode {
        id: Some(node(n)),
        parent_id: parent,
        kind: Kind::Folder,
        name: name.into(),
        seal: None,
    }
}

fn create(n: u8, rev: u8, base: Option<RevisionId>, name: &str, chunk: &[u8]) -> CreateUpload {
    CreateUpload {
        node_id: node(n),
        revision_id: revision(rev),
        base_revision_id: base,
        parent_id: None,
        name: base.is_none().then(|| name.to_owned()),
        size: chunk.len() as u64,
        chunks: vec![SealedChunk {
            id: ChunkId([rev; 32]),
            size: chunk.len() as u64,
        }],
        copy_of: None,
    }
}

/// A chunk as it is sent.
fn with_hash(sealed: &Bytes) -> (Bytes, [u8; 32]) {
    (sealed.clone(), cairn_crypto::content_hash(sealed).0)
}

fn complete() -> CompleteUpload {
    CompleteUpload {
        base_version: None,
        manifest: Sealed(b"manifest".to_vec()),
        modified_at: None,
        executable: false,
        seal: None,
    }
}

fn bundle(version: u64) -> KeyBundle {
    let sealed = || Sealed(vec![1; 60]);
    KeyBundle {
        format: 1,
        version,
        kdf: KdfParams {
            algorithm: "pbkdf2-hmac-sha256".into(),
            iterations: 1_000_000,
            memory: None,
            lanes: None,
            salt: Sealed(vec![7; 32]),
        },
        account_key: sealed(),
        rsa_public: sealed(),
        rsa_private: sealed(),
        signing_public: sealed(),
        signing_private: sealed(),
        spaces: vec![],
        recovery: None,
        replaced: None,
    }
}

#[tokio::test]
async fn the_account_its_keys_and_devices() {
    let world = World::start().await;
    let api = &world.api;
    let info = api.account().await.unwrap();
    assert_eq!(info.email, "owner@example.com");
    assert_eq!(api.quota().await.unwrap().file_count, 0);
    assert!(api.health().await.unwrap().is_object());

    assert!(matches!(api.keys().await, Err(ApiError::NotFound { .. })));
    let put = |version, current: Option<&str>| PutKeys {
        bundle: bundle(version),
        auth: "ab".repeat(32),
        current_auth: current.map(|c| c.repeat(32)),
        recovery_auth: None,
    };
    api.put_keys(&put(1, None), None).await.unwrap();
    assert_eq!(api.keys().await.unwrap(), bundle(1));
    let stale = api.put_keys(&put(3, Some("ab")), Some(2)).await;
    assert!(
        matches!(stale, Err(ApiError::PreconditionFailed { .. })),
        "{stale:?}"
    );
    let unproven = api.put_keys(&put(2, Some("cd")), Some(1)).await;
    assert!(
        matches!(unproven, Err(ApiError::Forbidden { .. })),
        "{unproven:?}"
    );
    api.put_keys(&put(2, Some("ab")), Some(1)).await.unwrap();

    let device = Device {
        id: DeviceId::from_random_bytes([5; 16]),
        name: "laptop".into(),
    };
    api.put_device(&device).await.unwrap();
    let listed = api.devices().await.unwrap();
    assert_eq!(
        (listed[0].id, &listed[0].name),
        (device.id, &device.name),
        "{listed:?}"
    );
    let removed = api.remove_device(device.id).await.unwrap();
    assert_eq!(removed.logins_ended, 0, "an API key is no login");
    assert_eq!(api.devices().await.unwrap(), []);

    let made = api
        .create_api_key(&CreateApiKey {
            name: "script".into(),
            expires_in: None,
        })
        .await
        .unwrap();
    assert!(made.key.starts_with("ck_"));
    api.revoke_api_key(&made.info.id).await.unwrap();
    let found = api.api_keys().await.unwrap();
    assert!(
        found
            .iter()
            .all(|key| key.id != made.info.id || !key.active)
    );
}

#[tokio::test]
async fn folders_are_made_changed_copied_trashed_and_restored() {
    let world = World::start().await;
    let api = &world.api;
    let a = api.create_folder(&folder(1, None, "a")).await.unwrap();
    assert_eq!(a.id, node(1));
    let taken = api.create_folder(&folder(2, None, "a")).await;
    assert!(matches!(taken, Err(ApiError::Conflict { .. })), "{taken:?}");
    for n in 0..130_u8 {
        api.create_folder(&folder(100 + n, Some(a.id), &format!("n{n:03}")))
            .await
            .unwrap();
    }
    let children = api.children(Some(a.id), None).await.unwrap();
    assert_eq!(children.len(), 130, "over more than one page");
    assert_eq!(
        api.children(Some(a.id), Some("n007")).await.unwrap().len(),
        1
    );
    let page = api
        .list_nodes(&ListNodes {
            parent_id: Some(a.id),
            page_size: Some(7),
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!((page.content.len(), page.total_elements), (7, 130));

    let renamed = UpdateNode {
        name: Some("b".into()),
        ..Default::default()
    };
    let b = api
        .update_node(a.id, Some(a.version), &renamed)
        .await
        .unwrap();
    assert_eq!((b.name.as_str(), b.version), ("b", a.version + 1));
    let again = UpdateNode {
        name: Some("z".into()),
        ..Default::default()
    };
    let stale = api.update_node(a.id, Some(a.version), &again).await;
    assert!(
        matches!(stale, Err(ApiError::PreconditionFailed { .. })),
        "{stale:?}"
    );

    let copy = CopyNode {
        id: Some(node(3)),
        parent_id: None,
        name: Some("c".into()),
        seal: None,
    };
    assert_eq!(api.copy_node(a.id, None, &copy).await.unwrap().id, node(3));
    let batch = NodeBatch::each_alone(vec![
        NodeOperation::CreateFolder {
            id: Some(node(4)),
            parent_id: None,
            name: "d".into(),
            seal: None,
        },
        NodeOperation::CreateFolder {
            id: Some(node(5)),
            parent_id: None,
            name: "d".into(),
            seal: None,
        },
        NodeOperation::Trash {
            id: node(3),
            seen: None,
            version: None,
            seal: None,
        },
    ]);
    let results = api.node_batch(&batch).await.unwrap().results;
    assert_eq!(
        results.iter().map(|r| r.status / 100).collect::<Vec<_>>(),
        [2, 4, 2]
    );
    assert_eq!(api.trash().await.unwrap().len(), 1);
    assert_eq!(api.restore_node(node(3)).await.unwrap().name, "c");
    api.delete_node(node(3), None, None).await.unwrap();
    api.delete_node(node(4), None, Some(&Sealed(vec![1, 2])))
        .await
        .unwrap();
    api.purge_node(node(4)).await.unwrap();
    assert!(api.empty_trash().await.unwrap().deleted > 0);
    assert!(api.trash().await.unwrap().is_empty());
    assert!(matches!(
        api.node(node(4)).await,
        Err(ApiError::NotFound { .. })
    ));
    assert_eq!(api.search("n01").await.unwrap().len(), 10);
}

#[tokio::test]
async fn content_goes_up_and_comes_down_unchanged() {
    let world = World::start().await;
    let api = &world.api;
    let first = Bytes::from(vec![1; 5_000]);
    let upload = api
        .create_upload(&create(1, 1, None, "f", &first))
        .await
        .unwrap();
    assert_eq!(upload.missing, [ChunkId([1; 32])]);
    let (url, id) = (&upload.chunk_url, upload.upload_id);
    let other = (first.clone(), [0; 32]);
    let refused = api.put_chunk(url, id, ChunkId([1; 32]), other).await;
    assert!(
        matches!(refused, Err(ApiError::Rejected { status: 400, .. })),
        "{refused:?}"
    );
    api.put_chunk(
        &upload.chunk_url,
        upload.upload_id,
        ChunkId([1; 32]),
        with_hash(&first),
    )
    .await
    .unwrap();
    assert!(
        api.get_upload(upload.upload_id)
            .await
            .unwrap()
            .missing
            .is_empty()
    );
    let made = api
        .complete_upload(upload.upload_id, &complete())
        .await
        .unwrap();
    assert_eq!(made.revision_id, Some(revision(1)));

    let second = Bytes::from(vec![2; 300]);
    let next = api
        .create_upload(&create(1, 2, Some(revision(1)), "f", &second))
        .await
        .unwrap();
    api.put_chunk(
        &next.chunk_url,
        next.upload_id,
        ChunkId([2; 32]),
        with_hash(&second),
    )
    .await
    .unwrap();
    api.complete_upload(next.upload_id, &complete())
        .await
        .unwrap();
    let late = api
        .create_upload(&create(1, 3, Some(revision(1)), "f", &second))
        .await;
    let Err(ApiError::Conflict { head, .. }) = late else {
        panic!("{late:?}")
    };
    assert_eq!(head, Some(revision(2)), "the head comes with the conflict");

    let given_up = api
        .create_upload(&create(9, 9, None, "g", &first))
        .await
        .unwrap();
    api.delete_upload(given_up.upload_id).await.unwrap();
    assert!(matches!(
        api.get_upload(given_up.upload_id).await,
        Err(ApiError::NotFound { .. })
    ));

    let revisions = api.revisions(node(1)).await.unwrap();
    assert_eq!(
        revisions.iter().map(|r| r.number).collect::<Vec<_>>(),
        [2, 1]
    );
    let content = api.manifest(node(1), revision(1)).await.unwrap();
    assert_eq!(content.manifest, Sealed(b"manifest".to_vec()));
    assert_eq!(
        api.chunk(node(1), ChunkId([1; 32]), None).await.unwrap(),
        first
    );
    assert_eq!(
        api.chunk(node(1), ChunkId([1; 32]), Some(10..20))
            .await
            .unwrap(),
        first.slice(10..20)
    );
    assert_eq!(
        api.restore_revision(node(1), revision(1))
            .await
            .unwrap()
            .size,
        5_000
    );

    let files = vec![
        BatchFile {
            create: create(20, 20, None, "x", b"xx"),
            complete: complete(),
        },
        BatchFile {
            create: create(21, 21, None, "x", b"yyy"),
            complete: complete(),
        },
        BatchFile {
            create: create(22, 22, None, "z", b"zzzz"),
            complete: complete(),
        },
    ];
    let payload = ["xx", "yyy", "zzzz"].map(|text| Bytes::from_static(text.as_bytes()));
    let results = api
        .upload_batch(&UploadBatch { files }, &payload)
        .await
        .unwrap()
        .results;
    assert_eq!(
        results.iter().map(|r| r.status / 100).collect::<Vec<_>>(),
        [2, 4, 2]
    );
    let files = [(20, 20), (21, 21), (22, 22)]
        .map(|(n, r)| DownloadFile {
            node_id: node(n),
            revision_id: revision(r),
        })
        .to_vec();
    let (head, payload) = api
        .download_batch(&DownloadBatch {
            files,
            content: true,
        })
        .await
        .unwrap();
    assert_eq!(
        head.files.iter().map(|f| f.status).collect::<Vec<_>>(),
        [200, 404, 200]
    );
    assert_eq!(&payload[..], b"xxzzzz");
    let counters = api.counters().snapshot();
    assert!(
        counters.sent > 5_300 && counters.received > 5_300 && counters.requests >= 17,
        "{counters:?}"
    );
}

#[tokio::test]
async fn the_feed_tells_what_changed_and_when() {
    let world = World::start().await;
    let api = &world.api;
    let start = api.changes(None).await.unwrap().cursor;
    let mut stream = api.stream(Some(&start)).await.unwrap();
    api.create_folder(&folder(1, None, "a")).await.unwrap();
    let moved = stream.next().await.unwrap().unwrap();
    let changes = api.changes(Some(&start)).await.unwrap();
    assert_eq!(moved.cursor, changes.cursor);
    assert_eq!(changes.changes[0].node_id, node(1));
    assert_eq!(
        (
            changes.changes.len(),
            changes.changes[0].kind,
            changes.has_more
        ),
        (1, ChangeKind::Created, false)
    );
    let snapshot = api.snapshot(None).await.unwrap();
    assert_eq!((snapshot.nodes.len(), snapshot.next), (1, None));

    let other = World::start().await;
    let gone = other.api.changes(Some(&changes.cursor)).await;
    assert!(matches!(gone, Err(ApiError::Gone { .. })), "{gone:?}");
    let gone = other.api.stream(Some(&changes.cursor)).await.err();
    assert!(matches!(gone, Some(ApiError::Gone { .. })), "{gone:?}");
}

#[tokio::test]
async fn failures_that_pass_are_waited_out() {
    let world = World::start().await;
    let api = &world.api;
    api.create_folder(&folder(1, None, "a")).await.unwrap();
    for fault in [
        json!({ "status": 500, "count": 3 }),
        json!({ "cut_after_bytes": 20, "count": 3 }),
    ] {
        world.fault("/api/v1/nodes", fault).await;
        assert_eq!(api.children(None, None).await.unwrap().len(), 1);
    }
    world
        .fault(
            "/api/v1/nodes",
            json!({ "status": 429, "retry_after": 1, "count": 1 }),
        )
        .await;
    let begin = Instant::now();
    api.create_folder(&folder(2, None, "b")).await.unwrap();
    assert!(
        begin.elapsed() >= Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test]
async fn a_change_whose_response_was_lost_happens_once() {
    let world = World::start().await;
    let api = &world.api;
    world
        .fault(
            "/api/v1/nodes",
            json!({ "method": "POST", "status": 503, "processed": true, "count": 2 }),
        )
        .await;
    api.create_folder(&folder(1, None, "a")).await.unwrap();
    world
        .fault(
            "/api/v1/nodes/",
            json!({ "method": "POST", "cut_after_bytes": 0, "count": 2 }),
        )
        .await;
    let copy = CopyNode {
        id: None,
        parent_id: None,
        name: Some("b".into()),
        seal: None,
    };
    api.copy_node(node(1), None, &copy).await.unwrap();
    let names: Vec<_> = api
        .children(None, None)
        .await
        .unwrap()
        .into_iter()
        .map(|n| n.name)
        .collect();
    assert_eq!(names, ["a", "b"]);

    let chunk = Bytes::from(vec![1; 5_000]);
    world
        .fault(
            "/api/v1/uploads",
            json!({ "cut_after_bytes": 0, "count": 1 }),
        )
        .await;
    let upload = api.create_upload(&create(1, 1, None, "f", &chunk)).await;
    // The node id is taken by a folder: the repeated request is told so, like the first one.
    assert!(
        matches!(
            upload,
            Err(ApiError::Conflict { .. } | ApiError::Rejected { .. })
        ),
        "{upload:?}"
    );
    let upload = api
        .create_upload(&create(9, 9, None, "f", &chunk))
        .await
        .unwrap();
    world
        .fault(
            "/api/v1/uploads",
            json!({ "cut_after_bytes": 0, "count": 2 }),
        )
        .await;
    let sealed = with_hash(&chunk);
    api.put_chunk(
        &upload.chunk_url,
        upload.upload_id,
        ChunkId([9; 32]),
        sealed,
    )
    .await
    .unwrap();
    world
        .fault(
            "/api/v1/uploads",
            json!({ "status": 500, "processed": true, "count": 2 }),
        )
        .await;
    api.complete_upload(upload.upload_id, &complete())
        .await
        .unwrap();
    assert_eq!(api.revisions(node(9)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_failure_that_stays_is_an_error_that_says_what_can_be_done() {
    let world = World::start().await;
    let api = &world.api;
    world
        .fault("/api/v1/health", json!({ "status": 500 }))
        .await;
    assert!(matches!(
        api.health().await,
        Err(ApiError::Server { status: 500, .. })
    ));
    world
        .fault("/api/v1/useraccount", json!({ "corrupt": true }))
        .await;
    assert!(matches!(api.account().await, Err(ApiError::Protocol(_))));
    world
        .fault(
            "/api/v1/trash",
            json!({ "status": 429, "retry_after": 3600 }),
        )
        .await;
    let limited = api.empty_trash().await;
    assert_eq!(
        limited,
        Err(ApiError::RateLimited {
            retry_after: Duration::from_secs(3600)
        })
    );

    world
        .post(
            "/_dev/quota",
            json!({ "email": "owner@example.com", "storage_limit": 10 }),
        )
        .await;
    let full = api.create_upload(&create(1, 1, None, "f", &[0; 100])).await;
    assert!(matches!(full, Err(ApiError::QuotaFull { .. })), "{full:?}");

    let stranger = world.client("ck_no_such_key");
    assert_eq!(
        stranger.account().await.unwrap_err(),
        ApiError::Unauthorized
    );
    let page = ListNodes {
        page_size: Some(1_000),
        ..Default::default()
    };
    let refused = api.list_nodes(&page).await;
    assert!(
        matches!(refused, Err(ApiError::Rejected { status: 400, .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_offline() {
    let world = World::start().await;
    let nowhere = World::client_at("http://127.0.0.1:1", "ck_dev_owner").with_retry(RetryPolicy {
        tries: 2,
        back_off: BackOff {
            first: Duration::from_millis(1),
            most: Duration::from_millis(1),
        },
        ..RetryPolicy::default()
    });
    assert!(matches!(nowhere.account().await, Err(ApiError::Offline(_))));
    assert_eq!(nowhere.counters().snapshot().requests, 2);
    drop(world);
}
