//! Objects (encrypted blobs) of a signed log go with the last thing that names them, in passes of a bounded size.

use super::*;
use cairn_log::{ControlBody, Epoch, Flags, ManifestObjects, NodeOp, ObjectId};
use cairn_model::NodeId;

fn id(n: u16) -> ObjectId {
    let mut id = [1; 32];
    id[30..].copy_from_slice(&n.to_be_bytes());
    ObjectId(id)
}

impl World {
    fn put_many(&self, numbers: std::ops::Range<u16>) -> Vec<ObjectId> {
        let ids: Vec<ObjectId> = numbers.clone().map(id).collect();
        for (n, id) in numbers.zip(&ids) {
            self.put(id.0, id.0, &format!("{n}")).unwrap();
        }
        ids
    }

    /// A commit of a file that the first of some objects is the manifest of.
    fn manifest_request(
        &mut self,
        node: NodeId,
        name: &str,
        objects: &[ObjectId],
    ) -> CommitRequest {
        let mut file = self.writer.file(node, name, objects[0].0);
        file.flags = file.flags.with(Flags::MANIFEST);
        let list = ManifestObjects {
            manifest: objects[0],
            objects: objects[1..].to_vec(),
        };
        CommitRequest {
            commit: self.writer.commit(vec![bytes(file)]),
            manifests: vec![list],
        }
    }

    /// Sends a request that the server takes, and reads what came of it.
    fn ask(&mut self, request: &CommitRequest) {
        match self.store.commit(&self.actor, request).unwrap() {
            CommitResponse::Accepted { page, .. } => self.writer.read(&page),
            CommitResponse::Refused { refusal, .. } => panic!("{refusal}"),
        }
    }

    fn purge(&mut self, node: NodeId) {
        let purge = bytes(self.writer.next(node, NodeOp::Purge));
        let commit = self.writer.commit(vec![purge]);
        self.write(&commit).unwrap();
    }

    /// Collects until nothing is left to do; returns how many files went in each pass.
    fn collect(&self) -> Vec<usize> {
        let mut passes = Vec::new();
        loop {
            let collected = self.store.collect_space_objects().unwrap();
            passes.push(collected.files.len());
            assert!(passes.len() < 100, "it comes to an end");
            if collected.is_done {
                break;
            }
        }
        assert_eq!(self.store.check_integrity().unwrap(), Vec::<String>::new());
        passes
    }
}

#[test]
fn objects_go_with_the_last_statement_that_names_them() {
    let mut world = World::with_genesis(open(None));
    let objects = world.put_many(1..4);
    let request = world.manifest_request(node(1), "a", &objects);
    world.ask(&request);
    // A copy names the manifest alone, a new name both again.
    let copy = world.manifest_request(node(2), "copy", &objects[..1]);
    world.ask(&copy);
    let mut renamed = world.writer.next(node(1), NodeOp::Place);
    renamed.name = b"b".to_vec();
    let commit = world.writer.commit(vec![bytes(renamed)]);
    world.write(&commit).unwrap();
    world.purge(node(1));
    world.collect();
    assert_eq!(world.store.needed_objects().unwrap().len(), 3);
    world.purge(node(2));
    assert_eq!(world.collect().iter().sum::<usize>(), 3);
    assert_eq!(world.store.needed_objects().unwrap().len(), 0);
}

#[test]
fn what_a_new_version_shares_with_the_old_one_stays() {
    let mut world = World::with_genesis(open(None));
    let objects = world.put_many(1..6);
    let request = world.manifest_request(node(1), "a", &objects[..3]);
    world.ask(&request);
    // Another file with a manifest of its own has a chunk of the first.
    let shared = [objects[3], objects[1], objects[4]];
    let request = world.manifest_request(node(2), "b", &shared);
    world.ask(&request);
    world.purge(node(1));
    assert_eq!(world.collect().iter().sum::<usize>(), 2);
    let needed = world.store.needed_objects().unwrap();
    let mut names: Vec<&str> = needed.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["2", "4", "5"]);
}

#[test]
fn a_manifest_comes_with_what_is_in_it() {
    let mut world = World::with_genesis(open(None));
    let objects = world.put_many(1..4);
    let mut request = world.manifest_request(node(1), "a", &objects);
    let whole = std::mem::take(&mut request.manifests);
    let astray = ManifestObjects {
        manifest: id(77),
        ..whole[0].clone()
    };
    let missing = ManifestObjects {
        objects: vec![objects[1], id(77)],
        ..whole[0].clone()
    };
    for manifests in [Vec::new(), vec![astray], vec![missing]] {
        request.manifests = manifests;
        let refused = world.store.commit(&world.actor, &request);
        assert!(
            matches!(refused, Err(Error::Conflict { .. })),
            "{refused:?}"
        );
    }
    request.manifests = whole;
    world.ask(&request);
    // What no commit named goes after its time; the rest stays, and is what a backup needs.
    world.put([9; 32], [9; 32], "waits").unwrap();
    world.store.source().advance(7 * 24 * 3600 * 1000);
    assert_eq!(world.collect().iter().sum::<usize>(), 1);
    let needed = world.store.needed_objects().unwrap();
    assert_eq!((needed.get("1"), needed.len()), (Some(&100), 3));
}

/// A manifest of whose list a part has gone: a device that names it again has to send all of it again.
#[test]
fn a_manifest_that_nothing_names_is_brought_whole_again() {
    let mut world = World::with_genesis(open(None));
    let objects = world.put_many(1..2_500);
    let request = world.manifest_request(node(1), "a", &objects);
    world.ask(&request);
    world.purge(node(1));
    // The node's statement lets go of the manifest, and it of a part of what is in it.
    let first = world.store.collect_space_objects().unwrap();
    assert!(!first.is_done);
    let mut again = world.manifest_request(node(2), "b", &objects);
    let whole = std::mem::take(&mut again.manifests);
    let refused = world.store.commit(&world.actor, &again);
    assert!(
        matches!(refused, Err(Error::Conflict { .. })),
        "{refused:?}"
    );
    again.manifests = whole;
    world.ask(&again);
    assert_eq!(world.collect().iter().sum::<usize>(), 0);
    assert_eq!(world.store.needed_objects().unwrap().len(), 2_499);
}

#[test]
fn a_collection_takes_passes_of_a_bounded_size() {
    let mut world = World::with_genesis(open(None));
    let objects = world.put_many(1..2_500);
    let request = world.manifest_request(node(1), "a", &objects);
    world.ask(&request);
    world.purge(node(1));
    let passes = world.collect();
    assert_eq!(passes.iter().sum::<usize>(), 2_499);
    assert!(passes.iter().all(|files| *files <= 1_000), "{passes:?}");
}

#[test]
fn an_object_is_held_against_what_a_statement_says_of_it() {
    let mut world = World::with_genesis(open(None));
    world.put([1; 32], [2; 32], "content").unwrap();
    let mut file = world.writer.file(node(1), "a", [1; 32]);
    let facts = file.file.as_mut().unwrap().facts.as_mut().unwrap();
    facts.size = 5;
    let small = world.writer.commit(vec![bytes(file.clone())]);
    let facts = file.file.as_mut().unwrap().facts.as_mut().unwrap();
    facts.size = (4 << 20) + 1;
    let large = world.writer.commit(vec![bytes(file)]);
    // Boxes are named by their SHA-256, and this is another's.
    let epoch = ControlBody::Epoch(Epoch {
        epoch: 2,
        check: [2; 32],
        boxes: [1; 32],
    });
    let boxes = world.writer.commit(vec![world.writer.control(epoch)]);
    for commit in [small, large, boxes] {
        let refused = world.send(&commit);
        assert!(
            matches!(refused, Err(Error::Conflict { .. })),
            "{refused:?}"
        );
    }
    let file = world.writer.file(node(1), "a", [1; 32]);
    let commit = world.writer.commit(vec![bytes(file)]);
    assert_eq!(world.write(&commit), Ok(1));
}
