//! Operations on a space over TCP to the bundled server, with changes that somebody without the keys
//! makes in between.

use crate::support::KeyHolder;
use cairn_api::{Api, Method};
use cairn_crypto::LinkSecret;
use cairn_crypto::format2::{LinkKey, Listing, ListingPlace};
use cairn_model::{Name, NodeId};
use cairn_space::{LocalFacts, PlanError, ShareError, Space, UnverifiedNodes};
use cairn_transfer::{BytesSource, MemoryTarget};
use cairn_wire::nodes::{Node, NodeState, UpdateNode};
use cairn_wire::shares::{CreateShare, OpenedShare, Share, SharedFile};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

struct World {
    api: Arc<Api>,
    space: Space,
    holder: KeyHolder,
}

impl World {
    async fn new() -> Self {
        let holder = KeyHolder::new().await;
        let api = holder.api.clone();
        Self {
            space: Space::new(api.clone(), holder.keys.clone(), holder.transfer()),
            api,
            holder,
        }
    }

    async fn folder(&self, name: &str) -> Node {
        let name = Name::new(name).unwrap();
        self.space.make_folder(None, &name).await.unwrap()
    }

    async fn file(&self, parent: NodeId, name: &str, content: &'static [u8]) -> Node {
        let local = LocalFacts {
            size: content.len() as u64,
            modified_ms: 1_767_323_045_678,
            executable: false,
        };
        let source = Arc::new(BytesSource(content.into()));
        let name = Name::new(name).unwrap();
        self.space
            .upload(source, local, Some(parent), &name, &())
            .await
            .unwrap()
    }

    async fn content(&self, node: &Node) -> Vec<u8> {
        let download = self.space.content(node, None).await.unwrap().unwrap();
        let target = Arc::new(MemoryTarget::default());
        let transfer = self.holder.transfer();
        transfer
            .download(download, target.clone(), &())
            .await
            .unwrap();
        target.take()
    }

    /// Opens a link and the listings of its files, as a visitor does.
    async fn listings(&self, share: &Share, key: &LinkKey) -> Vec<Listing> {
        let path = ["public", "shares", &share.short_code, "open"];
        let body = serde_json::json!({});
        let opened = self.api.call(Method::POST, &path, &[], Some(&body)).await;
        let opened: OpenedShare = serde_json::from_value(opened.unwrap()).unwrap();
        let open = |file: &SharedFile| {
            let place = ListingPlace {
                share: share.id,
                node: file.node_id,
                number: 1,
            };
            Listing::open(key, place, &file.sealed.0).unwrap()
        };
        opened.files.iter().map(open).collect()
    }

    /// Moves a node as somebody does who has no keys.
    async fn move_without_keys(&self, node: &Node, parent: NodeId, name: &str) -> Node {
        let change = UpdateNode {
            name: Some(name.to_owned()),
            parent_id: Some(Some(parent)),
            ..UpdateNode::default()
        };
        self.api.update_node(node.id, None, &change).await.unwrap()
    }

    /// Tries to share a node; the paths that are refused, or none.
    async fn refused(&self, node: &Node) -> Vec<String> {
        let settings = CreateShare::default();
        match self
            .space
            .create_share(node, settings, None, UnverifiedNodes::Refuse)
            .await
        {
            Ok(_) => Vec::new(),
            Err(ShareError::Unverified { paths }) => paths,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_without_keys_has_put_into_a_folder_is_not_shared_with_it() {
    let world = World::new().await;
    let public = world.folder("public").await;
    let private = world.folder("private").await;
    world.file(public.id, "readme.txt", b"for all").await;
    let secret = world.file(private.id, "x.txt", b"for nobody").await;
    assert_eq!(world.refused(&public).await, Vec::<String>::new());
    let link = world
        .space
        .create_share(
            &public,
            CreateShare::default(),
            None,
            UnverifiedNodes::Refuse,
        )
        .await
        .unwrap();

    let moved = world
        .move_without_keys(&secret, public.id, "notes.txt")
        .await;
    assert_eq!(world.refused(&public).await, ["/public/notes.txt"]);
    assert_eq!(world.refused(&moved).await, ["/public/notes.txt"]);
    let refreshed = world
        .space
        .refresh_share(&link.share, &public, UnverifiedNodes::Refuse)
        .await;
    assert!(matches!(refreshed, Err(ShareError::Unverified { .. })));
    // A person who has looked at it may share it all the same.
    world
        .space
        .refresh_share(&link.share, &public, UnverifiedNodes::Include)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_below_a_folder_that_nobody_with_keys_has_named_is_not_shared() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let private = world.folder("private").await;
    let file = world.file(private.id, "x.txt", b"for nobody").await;
    world.move_without_keys(&private, top.id, "public").await;
    let moved = world.space.node(file.id).await.unwrap();
    assert_eq!(world.refused(&moved).await, ["/top/public"]);
    assert_eq!(world.refused(&top).await, ["/top/public"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_planned_by_content_and_says_what_nobody_vouches_for() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let elsewhere = world.folder("elsewhere").await;
    world.file(top.id, "same", b"123").await;
    world.file(top.id, "other", b"456").await;
    let file = world.file(elsewhere.id, "x", b"7").await;
    world.move_without_keys(&file, top.id, "y").await;
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in [("same", "123"), ("other", "xyz")] {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    let as_is = |dir: &Path, name: &str, _: &mut HashSet<String>| Ok(dir.join(name));
    let plan = world
        .space
        .plan_download(Some(top.id), dir.path(), 100, &as_is)
        .await
        .unwrap();
    let mut names: Vec<&str> = plan.files.iter().map(|f| f.node.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!((names, plan.skipped), (vec!["other", "y"], 1));
    assert_eq!(plan.unverified, ["/top/y"]);
    let small = world
        .space
        .plan_download(Some(top.id), dir.path(), 1, &as_is);
    assert!(matches!(small.await, Err(PlanError::TooLarge { limit: 1 })));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_content_comes_back_sealed_and_without_a_transfer() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let content: &'static [u8] = Box::leak(vec![7_u8; 600_000].into_boxed_slice());
    let first = world.file(top.id, "f", content).await;
    let second = world.file(top.id, "f", b"short").await;
    let revisions = world.api.revisions(first.id).await.unwrap();
    let old = revisions.iter().find(|r| Some(r.id) == first.revision_id);
    let before = world.api.counters().snapshot().sent;
    let restored = world
        .space
        .restore_revision(&second, old.unwrap())
        .await
        .unwrap();
    assert!(world.api.counters().snapshot().sent - before < 20_000);
    assert_eq!(restored.size, 600_000);
    assert!(world.space.seal(&restored).is_some());
    assert_ne!(
        restored.revision_id, first.revision_id,
        "a revision of its own"
    );
    assert_eq!(restored.content_source, None);
    let again = world.space.restore_revision(&restored, old.unwrap()).await;
    assert_eq!(again.unwrap(), restored, "equal content makes no revision");
    let stale = world
        .space
        .restore_revision(&first, old.unwrap())
        .await
        .unwrap();
    assert_eq!(
        stale.revision_id, first.revision_id,
        "nothing is done on a stale view of it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_the_chunks_of_its_revision_and_no_others() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let first = world.file(top.id, "f", b"first").await;
    let linked = world.file(top.id, "f", b"in the link").await;
    let made = world
        .space
        .create_share(
            &linked,
            CreateShare::default(),
            None,
            UnverifiedNodes::Refuse,
        )
        .await
        .unwrap();
    let later = world.file(top.id, "f", b"written later").await;
    let (_, fragment) = made.address.split_once('#').unwrap();
    let key = LinkSecret::parse(fragment).unwrap().key();
    let opened = world.listings(&made.share, &key).await;
    let [listing] = &opened[..] else {
        panic!("{opened:?}")
    };
    assert_eq!((listing.path.as_str(), listing.size), ("f", 11));
    let mut read = Vec::new();
    for node in [&first, &linked, &later] {
        let revision = node.revision_id.unwrap();
        let stored = world.api.manifest(node.id, revision).await.unwrap();
        for object in stored.chunks {
            let sealed = world.api.chunk(node.id, object.id, None).await.unwrap();
            let chunks = listing.chunks.iter();
            read.extend(chunks.filter_map(|chunk| chunk.open(listing.space, &sealed).ok()));
        }
    }
    let read: Vec<Vec<u8>> = read.iter().map(|plain| plain.to_vec()).collect();
    assert_eq!(read, [b"in the link"]);
    assert_eq!(world.content(&later).await, b"written later");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_without_keys_restored_is_sealed_when_a_device_restores_it() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let first = world.file(top.id, "f", b"first").await;
    world.file(top.id, "f", b"second").await;
    let revisions = world.api.revisions(first.id).await.unwrap();
    let keyless = world
        .api
        .restore_revision(first.id, first.revision_id.unwrap())
        .await
        .unwrap();
    assert!(world.space.seal(&keyless).is_none());
    let restored = world
        .space
        .restore_revision(&keyless, &revisions[0])
        .await
        .unwrap();
    assert!(world.space.seal(&restored).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_has_not_seen_does_not_go_to_the_trash_with_its_folder() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let file = world.file(top.id, "f", b"content").await;
    let seen = world.api.changes(None).await.unwrap().cursor;
    let rename = UpdateNode {
        name: Some("g".to_owned()),
        ..UpdateNode::default()
    };
    let elsewhere = &world.holder.other_device;
    elsewhere.update_node(file.id, None, &rename).await.unwrap();
    let refused = world.space.trash_seen(&top, &seen).await.unwrap_err();
    assert!(refused.is_stale(), "{refused}");
    let kept = world.space.node(top.id).await.unwrap();
    assert_eq!(kept.state, NodeState::Active);
    let seen = world.api.changes(Some(&seen)).await.unwrap().cursor;
    world.space.trash_seen(&kept, &seen).await.unwrap();
    let gone = world.space.node(top.id).await.unwrap();
    assert_eq!(gone.state, NodeState::Trashed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_out_of_the_trash_is_sealed_as_far_as_it_was() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let file = world.file(top.id, "f", b"content").await;
    for confirmed in [false, true] {
        let node = world.space.node(file.id).await.unwrap();
        if confirmed {
            world.space.trash_confirmed(&node).await.unwrap();
        } else {
            world.space.trash_node(&node).await.unwrap();
        }
        let trashed = world.space.node(file.id).await.unwrap();
        let back = world.space.restore_node(&trashed).await.unwrap();
        assert!(world.space.seal(&back).is_some(), "confirmed: {confirmed}");
    }
    world.space.trash_node(&top).await.unwrap();
    let trashed = world.space.node(top.id).await.unwrap();
    let back = world.space.restore_node(&trashed).await.unwrap();
    assert!(world.space.seal(&back).is_some());
    let below = world.space.node(file.id).await.unwrap();
    assert!(
        world.space.seal(&below).is_some(),
        "what went along keeps its seal"
    );
    // Nobody vouched for it before: nobody does now.
    let moved = world.move_without_keys(&below, top.id, "g").await;
    world.space.trash_node(&moved).await.unwrap();
    let trashed = world.space.node(file.id).await.unwrap();
    let back = world.space.restore_node(&trashed).await.unwrap();
    assert!(world.space.seal(&back).is_none());
}
