//! Restores from the history and the trash, with a server that answers with something else than it has.

use crate::support::{KeyHolder, Liar, noise};
use cairn_api::Api;
use cairn_crypto::SealInfo;
use cairn_model::{Name, NodeId, RevisionId};
use cairn_space::{LocalMetadata, Space};
use cairn_transfer::{BytesSource, Transfer, TransferError};
use cairn_wire::nodes::{ContentSource, Node, Revision};
use serde_json::{Value, json};
use std::sync::Arc;

/// A person with files in the folders `home` and `public`, a `space` (client of the account's files) whose server is
/// honest, and one whose server falsifies responses.
struct World {
    holder: KeyHolder,
    liar: Arc<Liar>,
    space: Space,
    lied_to: Space,
    home: NodeId,
    public: NodeId,
}

impl World {
    async fn new() -> Self {
        let holder = KeyHolder::new().await;
        let liar = Liar::new();
        let space_at = |api: Arc<Api>| {
            let (keys, device) = (holder.keys.clone(), api.device());
            let options = cairn_transfer::Options::default();
            let transfer = Transfer::new(api.clone(), keys.clone(), device, options);
            Space::new(api, keys, transfer)
        };
        let space = space_at(holder.api.clone());
        let lied_to = space_at(holder.api_over(liar.clone()));
        let folder = async |name: &str| {
            let name = Name::new(name).unwrap();
            space.make_folder(None, &name).await.unwrap().id
        };
        let (home, public) = (folder("home").await, folder("public").await);
        Self {
            liar,
            home,
            public,
            lied_to,
            space,
            holder,
        }
    }

    async fn file(&self, name: &str, content: &[u8]) -> Node {
        let local = LocalMetadata {
            size: content.len() as u64,
            modified_ms: 1_767_323_045_678,
            executable: Some(false),
        };
        let source = Arc::new(BytesSource(content.to_vec().into()));
        let (parent, name) = (Some(self.home), Name::new(name).unwrap());
        let uploaded = self.space.upload(source, local, parent, &name, &());
        uploaded.await.unwrap()
    }

    async fn revision(&self, of: &Node) -> Revision {
        let all = self.holder.api.revisions(of.id).await.unwrap();
        let mut all = all.into_iter();
        all.find(|one| Some(one.id) == of.revision_id).unwrap()
    }

    /// The record of a file's content, as the service has it.
    async fn record(&self, of: &Node) -> Value {
        let stored = self.holder.api.manifest(of.id, of.revision_id.unwrap());
        serde_json::to_value(stored.await.unwrap().manifest).unwrap()
    }

    /// Returns the seal of a node's present state (by which clients authenticate it), as an honest server has it.
    async fn seal(&self, node: &Node) -> Option<SealInfo> {
        let node = self.space.node(node.id).await.unwrap();
        self.space.seal(&node)
    }

    /// Asserts that the liar got no seal for a node, neither with an upload nor alone.
    fn assert_nothing_sealed(&self, node: &Node, case: &str) {
        let asked = self.liar.requests();
        let update = format!("PUT /nodes/{}", node.id);
        let is_sealing = |one: &&String| **one == update || one.contains("/complete");
        let sealing = asked.iter().find(is_sealing);
        assert_eq!(sealing, None, "{case}");
        let asked = asked.iter().any(|one| one.contains("/restore"));
        assert!(asked, "{case}: nothing was restored");
    }
}

fn source(node: &Node) -> ContentSource {
    ContentSource {
        node_id: node.id,
        revision_id: node.revision_id.unwrap(),
    }
}

/// An object of every upload is missing.
fn lack_one(asked: &str, answer: &mut Value) {
    if asked == "POST /uploads" {
        answer["missing"] = json!(["00".repeat(32)]);
    }
}

/// Every content of a node is that of another file.
fn swap(of: NodeId, with: ContentSource, record: Value) -> impl Fn(&str, &mut Value) {
    move |asked, answer| {
        if asked.contains(&of.to_string()) && asked.ends_with("/manifest") {
            answer["manifest"] = record.clone();
            answer["content_source"] = json!(with);
        } else if asked.ends_with("/restore") {
            answer["content_source"] = json!(with);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_content_of_the_file_is_sealed_also_where_the_service_restores_it() {
    let world = World::new().await;
    let first = world.file("f", b"first").await;
    let second = world.file("f", b"second").await;
    world.liar.tell(lack_one);
    let old = world.revision(&first).await;
    let restored = world.lied_to.restore_revision(&second, &old).await.unwrap();
    assert_eq!(restored.content_source, Some(source(&first)));
    assert!(world.seal(&second).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_never_seals_the_content_of_another_file() {
    let world = World::new().await;
    let private = world.file("private", b"for nobody").await;
    let record = world.record(&private).await;
    let first = world.file("f", b"first").await;
    let second = world.file("f", b"second").await;
    let honest = world.revision(&first).await;

    // The service says that it lacks an object, and restores another file.
    let swapped = swap(
        NodeId::from_random_bytes([0; 16]),
        source(&private),
        record.clone(),
    );
    let (wanted, record_of) = (format!("/nodes/{}/revisions/", first.id), record.clone());
    let opened = [first.revision_id.unwrap(), second.revision_id.unwrap()];
    world.liar.tell(move |asked, answer| {
        lack_one(asked, answer);
        swapped(asked, answer);
        let is_new = !opened.iter().any(|id| asked.contains(&id.to_string()));
        if is_new && asked.contains(&wanted) && asked.ends_with("/manifest") {
            answer["manifest"] = record_of.clone();
        }
    });
    let restored = world.lied_to.restore_revision(&second, &honest).await;
    assert!(
        matches!(restored, Err(TransferError::Api(_))),
        "{restored:?}"
    );
    world.assert_nothing_sealed(&second, "in the answer");

    // It says so of the older revision from the start.
    let second = world.file("f", b"third").await;
    let lie = Revision {
        content_source: Some(source(&private)),
        ..honest
    };
    world.liar.tell({
        let swapped = swap(first.id, source(&private), record);
        let head = second.revision_id.unwrap().to_string();
        move |asked, answer| {
            if !asked.contains(&head) {
                swapped(asked, answer);
            }
        }
    });
    let restored = world.lied_to.restore_revision(&second, &lie).await.unwrap();
    assert!(world.lied_to.seal(&restored).is_none());
    world.assert_nothing_sealed(&second, "in the list of revisions");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_revision_of_the_file_than_the_wanted_one_is_not_sealed() {
    let world = World::new().await;
    let first = world.file("f", b"first").await;
    let wanted = world.file("f", b"wanted").await;
    let last = world.file("f", b"last").await;
    let record = world.record(&first).await;
    let lie = Revision {
        content_source: Some(source(&first)),
        ..world.revision(&wanted).await
    };
    let (id, source) = (wanted.revision_id.unwrap().to_string(), source(&first));
    world.liar.tell(move |asked, answer| {
        if asked.contains(&id) && asked.ends_with("/manifest") {
            answer["manifest"] = record.clone();
            answer["content_source"] = json!(source);
        }
    });
    world.lied_to.restore_revision(&last, &lie).await.unwrap();
    world.assert_nothing_sealed(&last, "an older revision");
    assert!(world.seal(&last).await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_not_sealed_for_a_content_that_was_replaced_meanwhile() {
    let world = World::new().await;
    let found = world.file("f", b"as it was found").await;
    world.file("f", b"edited since").await;
    let name = Name::new("copy").unwrap();
    let copied = world.space.copy_node(&found, Some(world.home), &name).await;
    let refused = copied.unwrap_err().to_string();
    assert!(refused.contains("read it again"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_copy_was_made_of_comes_back_without_a_seal() {
    let world = World::new().await;
    let original = world.file("original", b"copied").await;
    let name = Name::new("copy").unwrap();
    let copied = world.space.copy_node(&original, Some(world.home), &name);
    let copy = copied.await.unwrap().node;
    let edited = world.file("copy", b"edited").await;
    let old = world.revision(&copy).await;
    let restored = world.space.restore_revision(&edited, &old).await.unwrap();
    assert_eq!(restored.content_source, Some(source(&original)));
    assert!(world.space.seal(&restored).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_seals_no_place_that_the_service_chose() {
    let world = World::new().await;
    let first = world.file("f", b"first").await;
    let second = world.file("f", b"second").await;
    let old = world.revision(&first).await;
    let public = world.public;
    for (field, value) in [("parent_id", json!(public)), ("name", json!("readme"))] {
        world.liar.tell(move |asked, answer| {
            lack_one(asked, answer);
            if asked.ends_with("/restore") {
                answer[field] = value.clone();
            }
        });
        let node = world.space.node(second.id).await.unwrap();
        let restored = world.lied_to.restore_revision(&node, &old).await.unwrap();
        assert!(world.lied_to.seal(&restored).is_none(), "{field}");
        world.assert_nothing_sealed(&second, field);
        world.file("f", field.as_bytes()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_objects_of_an_older_content_are_those_of_its_own_list() {
    let world = World::new().await;
    let first = world.file("f", &noise(600_000)).await;
    let second = world.file("f", b"second").await;
    let old = world.revision(&first).await;
    let id = first.revision_id.unwrap().to_string();
    let objects = async |id: RevisionId| {
        let stored = world.holder.api.manifest(first.id, id).await.unwrap();
        let ids = stored.chunks.iter().map(|chunk| chunk.id);
        ids.collect::<Vec<_>>()
    };
    let own = objects(first.revision_id.unwrap()).await;
    for at in 0..own.len() {
        let id = id.clone();
        world.liar.tell(move |asked, answer| {
            if asked.contains(&id) && asked.ends_with("/manifest") {
                answer["chunks"].as_array_mut().unwrap().remove(at);
            }
        });
        let refused = world.lied_to.restore_revision(&second, &old).await;
        assert!(matches!(refused, Err(TransferError::Api(_))), "{at}");
        let asked = world.liar.requests();
        assert!(
            !asked.iter().any(|one| one.starts_with("POST")),
            "{asked:?}"
        );
    }
    let foreign = objects(second.revision_id.unwrap()).await[0].to_string();
    world.liar.tell(move |asked, answer| {
        if asked.contains(&id) && asked.ends_with("/manifest") {
            let chunks = answer["chunks"].as_array_mut().unwrap();
            let mut more = chunks[0].clone();
            more["id"] = json!(foreign);
            chunks.insert(0, more);
        }
    });
    let restored = world.lied_to.restore_revision(&second, &old).await.unwrap();
    assert_eq!(objects(restored.revision_id.unwrap()).await, own);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_out_of_the_trash_is_sealed_only_as_it_went_there() {
    let world = World::new().await;
    let private = world.file("private", b"for nobody").await;
    let record = world.record(&private).await;
    let older = world.file("f", b"older").await;
    let older_record = world.record(&older).await;
    let file = world.file("f", b"content").await;
    let of_private = swap(file.id, source(&private), record);
    let of_older = swap(file.id, source(&older), older_record);
    let public = world.public;
    type Lie = Box<dyn Fn(&str, &mut Value) + Send>;
    let changed = |field: &'static str, value: Value| -> Lie {
        Box::new(move |asked, answer| {
            if asked.ends_with("/restore") {
                answer[field] = value.clone();
            }
        })
    };
    let lies: [(&str, Lie); 4] = [
        ("another file", Box::new(of_private)),
        ("an older content", Box::new(of_older)),
        ("another folder", changed("parent_id", json!(public))),
        ("another name", changed("name", json!("readme"))),
    ];
    for (case, lie) in lies {
        let file = world.file("f", case.as_bytes()).await;
        world.space.trash_confirmed(&file).await.unwrap();
        let trashed = world.space.node(file.id).await.unwrap();
        world.liar.tell(lie);
        let restored = world.lied_to.restore_node(&trashed).await.unwrap().node;
        assert!(world.lied_to.seal(&restored).is_none(), "{case}");
        world.assert_nothing_sealed(&file, case);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_finds_its_name_taken_comes_back_sealed_under_another() {
    let world = World::new().await;
    let file = world.file("f.txt", b"first").await;
    world.space.trash_confirmed(&file).await.unwrap();
    world.file("f.txt", b"second").await;
    let trashed = world.space.node(file.id).await.unwrap();
    let restored = world.space.restore_node(&trashed).await.unwrap().node;
    assert_eq!(restored.name, "f (2).txt");
    assert!(world.space.seal(&restored).is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_only_the_service_tells_of_is_not_sealed() {
    let world = World::new().await;
    let file = world.file("f", b"content").await;
    world.space.trash_confirmed(&file).await.unwrap();
    let trashed = world.space.node(file.id).await.unwrap();
    let home = format!("GET /nodes/{}", world.home);
    world.liar.tell(move |asked, answer| {
        if asked == home {
            answer["state"] = json!("trashed");
            answer["name"] = json!("public");
        }
    });
    let restored = world.lied_to.restore_node(&trashed).await.unwrap().node;
    assert_eq!(restored.parent_id, Some(world.public));
    assert!(world.seal(&restored).await.is_none());
}
