//! Operations on a space (the files of an account) over TCP to the bundled server, with changes that somebody without
//! the keys makes in between.

use crate::support::{KeyHolder, Liar};
use cairn_api::{Api, Method};
use cairn_crypto::format2::{LinkKey, Listing, ListingPlace};
use cairn_crypto::{CryptoError, LinkSecret};
use cairn_model::{Name, NodeId};
use cairn_space::{
    LocalMetadata, PlanError, SealInfo, SeenSeals, ShareError, Space, UnverifiedNodes, account_keys,
};
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
        let local = LocalMetadata {
            size: content.len() as u64,
            modified_ms: 1_767_323_045_678,
            executable: Some(false),
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

    /// Returns the encrypted listings of a share link: the keys of the chunks that it opens.
    async fn sealed_listings(&self, share: &Share) -> Vec<SharedFile> {
        let path = ["public", "shares", &share.short_code, "open"];
        let body = serde_json::json!({});
        let opened = self.api.call(Method::POST, &path, &[], Some(&body)).await;
        let opened: OpenedShare = serde_json::from_value(opened.unwrap()).unwrap();
        opened.files
    }

    /// Opens a link and the listings of its files, as a visitor does.
    async fn listings(&self, share: &Share, key: &LinkKey) -> Vec<Listing> {
        let files = self.sealed_listings(share).await.into_iter();
        files
            .map(|file| open_listing(share, key, &[file]).unwrap())
            .collect()
    }

    /// Makes a link to a node, and returns it with its key.
    async fn share(&self, node: &Node) -> (Share, LinkKey) {
        let settings = CreateShare::default();
        let made = self
            .space
            .create_share(node, settings, None, UnverifiedNodes::Refuse)
            .await
            .unwrap();
        let (_, fragment) = made.address.split_once('#').unwrap();
        (made.share, LinkSecret::parse(fragment).unwrap().key())
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
    async fn refused_paths(&self, node: &Node) -> Vec<String> {
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

/// Opens the listing of a link to one file.
fn open_listing(
    share: &Share,
    key: &LinkKey,
    files: &[SharedFile],
) -> Result<Listing, CryptoError> {
    let [file] = files else { panic!("{files:?}") };
    let place = ListingPlace {
        share: share.id,
        node: file.node_id,
        number: 1,
    };
    Listing::open(key, place, &file.sealed.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_without_keys_has_put_into_a_folder_is_not_shared_with_it() {
    let world = World::new().await;
    let public = world.folder("public").await;
    let private = world.folder("private").await;
    world.file(public.id, "readme.txt", b"for all").await;
    let secret = world.file(private.id, "x.txt", b"for nobody").await;
    assert_eq!(world.refused_paths(&public).await, Vec::<String>::new());
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
    assert_eq!(world.refused_paths(&public).await, ["/public/notes.txt"]);
    assert_eq!(world.refused_paths(&moved).await, ["/public/notes.txt"]);
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
    assert_eq!(world.refused_paths(&moved).await, ["/top/public"]);
    assert_eq!(world.refused_paths(&top).await, ["/top/public"]);
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
    let (share, key) = world.share(&linked).await;
    let later = world.file(top.id, "f", b"written later").await;
    let opened = world.listings(&share, &key).await;
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
        let back = world.space.restore_node(&trashed).await.unwrap().node;
        assert!(world.space.seal(&back).is_some(), "confirmed: {confirmed}");
    }
    world.space.trash_node(&top).await.unwrap();
    let trashed = world.space.node(top.id).await.unwrap();
    let back = world.space.restore_node(&trashed).await.unwrap().node;
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
    let back = world.space.restore_node(&trashed).await.unwrap().node;
    assert!(world.space.seal(&back).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_every_normal_form_are_shared_and_a_path_too_long_is_named() {
    let world = World::new().await;
    let top = world.folder("re\u{301}sume\u{301}s").await;
    world.file(top.id, "cafe\u{301}.txt", b"decomposed").await;
    world.file(top.id, "a\\b", b"a backslash").await;
    let (share, key) = world.share(&top).await;
    let listings = world.listings(&share, &key).await;
    let mut paths: Vec<&str> = listings.iter().map(|one| one.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["a\\b", "caf\u{e9}.txt"]);

    let long = Name::new("n".repeat(255)).unwrap();
    let mut at = world.folder("deep").await;
    let deep = at.clone();
    for _ in 0..16 {
        at = world.space.make_folder(Some(at.id), &long).await.unwrap();
    }
    world.file(at.id, "last", b"x").await;
    let settings = CreateShare::default();
    let refused = world
        .space
        .create_share(&deep, settings, None, UnverifiedNodes::Refuse)
        .await;
    let Err(ShareError::NotListable { path, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(path.ends_with("/last"), "{path}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_in_a_link_opens_with_its_address_also_after_a_refresh() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let draft = world.file(top.id, "f", b"with a secret").await;
    let (share, key) = world.share(&draft).await;
    let before = world.sealed_listings(&share).await;
    let redacted = world.file(top.id, "f", b"redacted").await;
    world
        .space
        .refresh_share(&share, &redacted, UnverifiedNodes::Refuse)
        .await
        .unwrap();
    assert_ne!(world.sealed_listings(&share).await, before);
    assert!(
        open_listing(&share, &key, &before).is_ok(),
        "whoever kept it"
    );
    // That is why a file without its secrets gets a new link.
    let (other, other_key) = world.share(&redacted).await;
    assert!(open_listing(&other, &other_key, &before).is_err());
}

/// Has seen the tenth seal of one node.
struct Tenth(NodeId);

impl SeenSeals for Tenth {
    fn newest_number(&self, node: NodeId) -> std::io::Result<u64> {
        Ok(if node == self.0 { 10 } else { 0 })
    }

    fn still_vouches(&self, _: u32, _: &Node, _: SealInfo) -> std::io::Result<bool> {
        Ok(true)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_state_than_this_device_has_seen_is_not_shared() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let file = world.file(top.id, "f", b"not yet redacted").await;
    let (share, _) = world.share(&top).await;
    for (seen, path) in [(file.id, "/top/f"), (top.id, "/top")] {
        let space = world.space.clone().with_seen(Arc::new(Tenth(seen)));
        for unverified in [UnverifiedNodes::Refuse, UnverifiedNodes::Include] {
            let made = space.create_share(&file, CreateShare::default(), None, unverified);
            let refreshed = space.refresh_share(&share, &top, unverified);
            for refused in [made.await, refreshed.await] {
                let Err(ShareError::Rollback { paths }) = refused else {
                    panic!("{refused:?}")
                };
                assert_eq!(paths, [path]);
            }
        }
    }
    let elsewhere = NodeId::from_random_bytes([9; 16]);
    let space = world.space.clone().with_seen(Arc::new(Tenth(elsewhere)));
    let refreshed = space.refresh_share(&share, &top, UnverifiedNodes::Refuse);
    refreshed.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_state_than_this_device_has_seen_is_not_verified() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let file = world.file(top.id, "f", b"not yet redacted").await;
    let dir = tempfile::tempdir().unwrap();
    let as_is = |dir: &Path, name: &str, _: &mut HashSet<String>| Ok(dir.join(name));
    let elsewhere = NodeId::from_random_bytes([9; 16]);
    for (seen, path) in [
        (file.id, Some("/top/f")),
        (top.id, Some("/top")),
        (elsewhere, None),
    ] {
        let expected: Vec<&str> = path.into_iter().collect();
        let space = world.space.clone().with_seen(Arc::new(Tenth(seen)));
        assert_eq!(space.unverified_path(&file).await.unwrap(), expected);
        let plan = space.plan_download(Some(top.id), dir.path(), 100, &as_is);
        assert_eq!(plan.await.unwrap().unverified, expected);
    }
}

/// Can't tell what this device has seen.
struct Unreadable;

impl SeenSeals for Unreadable {
    fn newest_number(&self, _: NodeId) -> std::io::Result<u64> {
        Err(std::io::Error::other("damaged"))
    }

    fn still_vouches(&self, _: u32, _: &Node, _: SealInfo) -> std::io::Result<bool> {
        Err(std::io::Error::other("damaged"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_verified_where_what_was_seen_can_not_be_read() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let space = world.space.clone().with_seen(Arc::new(Unreadable));
    assert_eq!(space.unverified_path(&top).await.unwrap(), ["/top"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_the_node_that_was_asked_for_and_an_older_state_is_not_sealed_in_it() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let file = world.file(top.id, "f", b"content").await;
    let name = |name: &str| Name::new(name).unwrap();
    let copy = world.space.copy_node(&file, None, &name("copy")).await;
    assert!(world.space.seal(&copy.unwrap().node).is_some());
    let past = world.space.clone().with_seen(Arc::new(Tenth(file.id)));
    let copy = past.copy_node(&file, None, &name("past")).await;
    assert!(past.seal(&copy.unwrap().node).is_none());

    // A server that answers with another node: whoever takes the copy back would put that into the trash.
    let liar = Liar::new();
    let victim = top.id.to_string();
    liar.tell(move |asked, answer| {
        if asked.ends_with("/copy") {
            answer["id"] = serde_json::json!(victim);
        }
    });
    let api = world.holder.api_over(liar);
    let space = Space::new(api, world.holder.keys.clone(), world.holder.transfer());
    let refused = space.copy_node(&file, None, &name("lie")).await;
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("instead of the copy"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_leads_back_to_itself_counts_as_used() {
    let holder = KeyHolder::new().await;
    assert!(!account_keys::is_used(&holder.api).await.unwrap());
    let liar = Liar::new();
    liar.tell(|asked, answer| {
        if asked.contains("/changes/snapshot") {
            let cursor = answer["cursor"].as_str().unwrap_or_default();
            answer["next"] = serde_json::json!(format!("{cursor}~0"));
        }
    });
    let lied_to = holder.api_over(liar);
    assert!(account_keys::is_used(&lied_to).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copied_folder_is_sealed_as_far_as_the_original() {
    let world = World::new().await;
    let top = world.folder("top").await;
    let elsewhere = world.folder("elsewhere").await;
    let name = |name: &str| Name::new(name).unwrap();
    let sub = world.space.make_folder(Some(top.id), &name("sub")).await;
    let file = world.file(sub.unwrap().id, "f", b"content").await;
    let copied = world.space.copy_node(&top, None, &name("copy")).await;
    let copied = copied.unwrap();
    assert_eq!((copied.unsealed, copied.warning()), (0, None));
    assert_eq!(
        world.refused_paths(&copied.node).await,
        Vec::<String>::new()
    );
    let sub = world.space.child(Some(copied.node.id), &name("sub")).await;
    let sub = sub.unwrap().unwrap();
    let copy = world.space.child(Some(sub.id), &name("f")).await;
    let copy = copy.unwrap().unwrap();
    assert_eq!(world.content(&copy).await, b"content");
    assert!(copied.node.updated_at >= copy.updated_at);

    // What nobody vouches for in the original is not vouched for in the copy.
    world.move_without_keys(&file, elsewhere.id, "g").await;
    let elsewhere = world.space.node(elsewhere.id).await.unwrap();
    let other = name("other");
    let copied = world.space.copy_node(&elsewhere, None, &other).await;
    let copied = copied.unwrap();
    assert_eq!(copied.unsealed, 1);
    assert!(copied.warning().is_some());
    assert_eq!(world.refused_paths(&copied.node).await, ["/other/g"]);
}
