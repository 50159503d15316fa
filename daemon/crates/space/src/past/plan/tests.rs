//! Plans over pasts that are written down as tables, and over random histories that are replayed.

mod misplaced;

use super::*;
use crate::past::tree::{Deleted, LeftState};
use cairn_model::PastKind;
use cairn_wire::nodes::{Node, NodeState};
use serde_json::json;

fn id(n: u64) -> NodeId {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    NodeId::from_random_bytes(bytes)
}

fn revision_id(n: u64) -> RevisionId {
    let mut bytes = [7; 16];
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    RevisionId::from_random_bytes(bytes)
}

fn time(ms: i64) -> String {
    cairn_wire::Timestamp(ms).to_string()
}

/// A node of a model of the service.
#[derive(Clone, Debug)]
struct Item {
    id: NodeId,
    kind: Kind,
    parent: Option<NodeId>,
    name: String,
    created: i64,
    updated: i64,
    deleted: Option<Deleted>,
    left: Vec<LeftState>,
    revisions: Vec<(RevisionId, i64)>,
}

/// A model of the service: every change takes one millisecond.
#[derive(Clone, Debug, Default)]
struct Model {
    items: Vec<Item>,
    now: i64,
    made: u64,
}

/// A person's view: paths with contents.
type Tree = BTreeMap<String, Option<RevisionId>>;

impl Model {
    fn tick(&mut self) -> i64 {
        self.now += 1;
        self.now
    }

    fn make(&mut self, kind: Kind, parent: Option<NodeId>, name: &str) -> NodeId {
        let now = self.tick();
        self.made += 1;
        let id = id(self.made);
        self.items.push(Item {
            id,
            kind,
            parent,
            name: name.to_owned(),
            created: now,
            updated: now,
            deleted: None,
            left: Vec::new(),
            revisions: Vec::new(),
        });
        if kind == Kind::File {
            self.write(id);
            let item = self.item(id);
            item.created = item.updated;
        }
        id
    }

    fn item(&mut self, id: NodeId) -> &mut Item {
        self.items.iter_mut().find(|item| item.id == id).unwrap()
    }

    fn write(&mut self, id: NodeId) {
        let now = self.tick();
        self.made += 1;
        let revision = (revision_id(self.made), now);
        let item = self.item(id);
        item.updated = now;
        item.revisions.push(revision);
    }

    fn set_content(&mut self, id: NodeId, revision: RevisionId) {
        let now = self.tick();
        let item = self.item(id);
        item.updated = now;
        item.revisions.push((revision, now));
    }

    /// Keeps the state that an item leaves now, as the service does.
    fn leave(&mut self, id: NodeId, state: NodeState) {
        let now = self.now;
        let item = self.item(id);
        item.left.push(LeftState {
            parent: item.parent,
            name: item.name.clone(),
            state,
            until_ms: now,
            device: None,
        });
    }

    fn relocate(&mut self, id: NodeId, parent: Option<NodeId>, name: &str) {
        let now = self.tick();
        self.leave(id, NodeState::Active);
        let item = self.item(id);
        name.clone_into(&mut item.name);
        item.parent = parent;
        item.updated = now;
    }

    fn delete(&mut self, id: NodeId) {
        let now = self.tick();
        self.leave(id, NodeState::Active);
        for below in self.subtree(id) {
            let item = self.item(below);
            item.deleted.get_or_insert(Deleted {
                at_ms: now,
                root: id,
            });
        }
        self.item(id).updated = now;
    }

    fn undelete(&mut self, root: NodeId) {
        let now = self.tick();
        self.leave(root, NodeState::Trashed);
        let parent = self.item(root).parent;
        let is_gone = |parent: NodeId| {
            self.items
                .iter()
                .any(|i| i.id == parent && i.deleted.is_some())
        };
        if parent.is_some_and(is_gone) {
            self.item(root).parent = None;
        }
        for item in &mut self.items {
            if item.deleted.is_some_and(|deleted| deleted.root == root) {
                item.deleted = None;
                item.updated = now;
            }
        }
    }

    /// A node with what is below it.
    fn subtree(&self, id: NodeId) -> Vec<NodeId> {
        let is_below = |item: &&Item| {
            let mut at = Some(item.id);
            while let Some(here) = at {
                if here == id {
                    return true;
                }
                at = self.items.iter().find(|i| i.id == here).unwrap().parent;
            }
            false
        };
        self.items.iter().filter(is_below).map(|i| i.id).collect()
    }

    fn past(&self) -> Past {
        Past::new(self.items.iter().map(|item| {
            let node: Node = serde_json::from_value(json!({
                "id": item.id, "space_id": item.id, "parent_id": item.parent,
                "kind": item.kind, "name": item.name, "name_format": "plain", "size": 1,
                "mime_type": null, "category": null,
                "state": if item.deleted.is_some() { "trashed" } else { "active" },
                "revision_id": item.revisions.last().map(|(id, _)| id),
                "version": 1, "created_at": time(item.created), "updated_at": time(item.updated),
                "modified_at": null, "executable": false, "description": "", "labels": {},
                "tags": [], "favorite": false, "seal": null, "seq": 1,
            }))
            .unwrap();
            PastNode {
                node,
                deleted: item.deleted,
                left: item.left.clone(),
            }
        }))
    }

    fn revisions(&self) -> HashMap<NodeId, Vec<Revision>> {
        let of = |item: &Item| {
            let numbered = (1_u64..).zip(&item.revisions).map(|(number, (id, at))| {
                serde_json::from_value(json!({
                    "id": id, "node_id": item.id, "number": number, "size": 1,
                    "created_at": time(*at), "modified_at": null, "current": false,
                    "device_id": null, "uploaded_by": "",
                }))
                .unwrap()
            });
            (item.id, numbered.collect())
        };
        self.items.iter().map(of).collect()
    }

    fn tree(&self) -> Tree {
        let past = self.past();
        let active = self.items.iter().filter(|item| item.deleted.is_none());
        active
            .map(|item| (past.path(item.id), item.revisions.last().map(|(id, _)| *id)))
            .collect()
    }

    fn plan(&self, scope: Scope, at_ms: i64, newer: Newer) -> Plan {
        plan(&self.past(), scope, at_ms, &self.revisions(), newer)
    }

    /// Carries a plan out as the program does: what is in the trash first, then the rest of a new plan.
    fn carry_out(&mut self, scope: Scope, at_ms: i64) {
        for root in self.plan(scope, at_ms, Newer::Trash).back {
            self.undelete(root);
        }
        let rest = self.plan(scope, at_ms, Newer::Trash);
        assert!(rest.back.is_empty(), "{rest:?}");
        for step in &rest.moves {
            self.relocate(step.node, step.parent, &step.name);
        }
        for id in &rest.trash {
            self.delete(*id);
        }
        for content in &rest.contents {
            self.set_content(content.node, content.revision.id);
        }
    }
}

/// A linear congruential generator (Knuth's MMIX constants): the same runs everywhere.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }
}

fn act(model: &mut Model, chance: &mut Chance) {
    let active: Vec<&Item> = model.items.iter().filter(|i| i.deleted.is_none()).collect();
    let files: Vec<NodeId> = active
        .iter()
        .filter(|i| i.kind == Kind::File)
        .map(|i| i.id)
        .collect();
    let folders: Vec<NodeId> = active
        .iter()
        .filter(|i| i.kind == Kind::Folder)
        .map(|i| i.id)
        .collect();
    let all: Vec<NodeId> = active.iter().map(|i| i.id).collect();
    let into = match chance.below(3) {
        0 => None,
        _ => chance.of(&folders),
    };
    let name = format!("n{}", model.made);
    let roots: Vec<NodeId> = model
        .items
        .iter()
        .filter(|i| i.deleted.is_some_and(|deleted| deleted.root == i.id))
        .map(|i| i.id)
        .collect();
    match chance.below(10) {
        0 | 1 => drop(model.make(Kind::File, into, &name)),
        2 => drop(model.make(Kind::Folder, into, &name)),
        3 | 4 => {
            if let Some(file) = chance.of(&files) {
                model.write(file);
            }
        }
        5 | 6 => {
            if let Some(moved) = chance.of(&all)
                && into.is_none_or(|into| !model.subtree(moved).contains(&into))
            {
                model.relocate(moved, into, &name);
            }
        }
        7 | 8 => {
            if let Some(gone) = chance.of(&all) {
                model.delete(gone);
            }
        }
        _ => {
            if let Some(root) = chance.of(&roots) {
                model.undelete(root);
            }
        }
    }
}

#[test]
fn times_of_a_random_history_come_back_in_any_order() {
    for seed in 0..200 {
        let mut chance = Chance(seed);
        let mut model = Model::default();
        let mut seen = vec![(0, Tree::new())];
        for _ in 0..40 {
            act(&mut model, &mut chance);
            seen.push((model.now, model.tree()));
        }
        for _ in 0..4 {
            let (at_ms, then) = &seen[chance.below(seen.len())];
            model.carry_out(Scope::All, *at_ms);
            assert_eq!(&model.tree(), then, "seed {seed}, time {at_ms}");
        }
    }
}

#[test]
fn a_folder_comes_back_and_nothing_else_changes() {
    let mut model = Model::default();
    let work = model.make(Kind::Folder, None, "work");
    let other = model.make(Kind::File, None, "other");
    let edited = model.make(Kind::File, Some(work), "edited");
    let gone = model.make(Kind::File, Some(work), "gone");
    let moved = model.make(Kind::File, Some(work), "moved");
    let then = model.now;
    model.write(edited);
    model.write(other);
    model.delete(gone);
    model.relocate(moved, None, "elsewhere");
    let new = model.make(Kind::File, Some(work), "new");
    let plan = model.plan(Scope::Below(work), then, Newer::Trash);
    assert_eq!(
        (plan.back.as_slice(), plan.trash.as_slice()),
        (&[gone][..], &[new][..])
    );
    assert_eq!((plan.files_back, plan.files_trashed), (1, 1));
    assert_eq!(plan.moves.len(), 1);
    assert_eq!(
        (plan.moves[0].node, plan.moves[0].name.as_str()),
        (moved, "moved")
    );
    assert_eq!(plan.contents.len(), 1);
    assert_eq!(plan.contents[0].node, edited);
    assert_eq!(plan.incomplete, []);
    let kept = model.plan(Scope::Below(work), then, Newer::Keep);
    assert_eq!(kept.trash, [], "what was made since stays");
    model.carry_out(Scope::Below(work), then);
    let again = model.plan(Scope::Below(work), then, Newer::Trash);
    assert!(again.back.is_empty() && again.moves.is_empty() && again.trash.is_empty());
}

#[test]
fn what_was_in_the_trash_then_goes_there_again_with_what_lay_in_it() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "d");
    let file = model.make(Kind::File, Some(folder), "f");
    let before = (model.now, model.tree());
    model.delete(folder);
    let gone = model.now;
    model.undelete(folder);
    model.relocate(file, None, "out");
    let plan = model.plan(Scope::All, gone, Newer::Trash);
    let mut both = vec![folder, file];
    both.sort_unstable();
    assert_eq!((plan.trash, plan.moves), (both, vec![]));
    assert_eq!(model.past().at_path("/d/f", gone), None);
    let kinds: Vec<_> = crate::past::events(&model.past(), Scope::Below(folder), &[])
        .into_iter()
        .map(|event| event.kind)
        .collect();
    let expected = [PastKind::Restored, PastKind::Deleted, PastKind::Created];
    assert_eq!(kinds, expected);
    model.carry_out(Scope::All, gone);
    assert_eq!(model.tree(), Tree::new());
    model.carry_out(Scope::All, before.0);
    assert_eq!(model.tree(), before.1);
}

#[test]
fn a_path_is_the_same_however_its_accents_are_composed() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "cafe\u{301}");
    let file = model.make(Kind::File, Some(folder), "e\u{301}");
    let then = model.now;
    model.delete(file);
    let (past, path) = (model.past(), "/caf\u{e9}/\u{e9}");
    assert_eq!(past.at_path(path, then), Some(Scope::Below(file)));
    let deleted = past.deleted_at_path(path, None);
    assert_eq!(deleted.map(|one| one.node.id), Some(file));
    assert_eq!(past.others_at(path, None).len(), 1);
}

#[test]
fn a_path_names_what_was_there_at_the_time() {
    let mut model = Model::default();
    let first = model.make(Kind::Folder, None, "a");
    let then = model.now;
    model.delete(first);
    let second = model.make(Kind::Folder, None, "a");
    let past = model.past();
    assert_eq!(past.at_path("/a", then), Some(Scope::Below(first)));
    assert_eq!(past.at_path("/a", model.now), Some(Scope::Below(second)));
}

#[test]
fn a_version_that_is_not_kept_is_reported_and_nothing_is_done_about_it() {
    let mut model = Model::default();
    let file = model.make(Kind::File, None, "f");
    let then = model.now;
    model.write(file);
    let mut revisions = model.revisions();
    revisions.get_mut(&file).unwrap().remove(0);
    let plan = plan(&model.past(), Scope::All, then, &revisions, Newer::Trash);
    assert!(plan.is_empty());
    assert_eq!(plan.incomplete[0].path, "/f");
}

#[test]
fn a_file_that_went_with_its_folder_comes_back_with_it() {
    let mut model = Model::default();
    let outer = model.make(Kind::Folder, None, "outer");
    let file = model.make(Kind::File, Some(outer), "f");
    let then = model.now;
    let later = model.make(Kind::File, Some(outer), "later");
    model.delete(outer);
    let plan = model.plan(Scope::All, then, Newer::Trash);
    assert_eq!((plan.back.as_slice(), plan.files_back), (&[outer][..], 1));
    model.carry_out(Scope::All, then);
    let tree = model.tree();
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["/outer", "/outer/f"]);
    let past = model.past();
    assert!(past.get(file).unwrap().is_active() && !past.get(later).unwrap().is_active());
}

#[test]
fn what_was_moved_unseen_does_not_go_to_the_trash_with_its_new_folder() {
    let mut model = Model::default();
    let file = model.make(Kind::File, None, "f");
    let then = model.now;
    let new = model.make(Kind::Folder, None, "new");
    let inner = model.make(Kind::Folder, Some(new), "inner");
    let other = model.make(Kind::File, Some(new), "other");
    model.relocate(file, Some(inner), "f");
    assert_eq!(model.plan(Scope::All, then, Newer::Trash).trash, [new]);
    // As a device sees it that was not there.
    model.item(file).left.clear();
    let plan = model.plan(Scope::All, then, Newer::Trash);
    assert_eq!(plan.trash, [other], "the folders above the file stay");
    assert_eq!(plan.incomplete.len(), 1);
    assert_eq!(plan.incomplete[0].path, "/new/inner/f");
}

#[test]
fn a_file_gets_its_place_back_from_what_came_there_since() {
    let mut model = Model::default();
    let [moved, gone] = ["m", "f"].map(|name| model.make(Kind::File, None, name));
    let then = model.now;
    let tree = model.tree();
    model.relocate(moved, None, "m2");
    let at_m = model.make(Kind::File, None, "m");
    model.delete(gone);
    let at_f = model.make(Kind::File, None, "f");
    for (path, file, newer) in [("/m", moved, at_m), ("/f", gone, at_f)] {
        assert_eq!(
            model.past().at_path(path, then),
            Some(Scope::Below(file)),
            "{path}"
        );
        let plan = model.plan(Scope::Place(file), then, Newer::Trash);
        assert_eq!((plan.trash, plan.incomplete), (vec![newer], vec![]));
        let others = model.past();
        let others = others.others_at(path, Some(newer));
        assert_eq!(others.first().map(|one| one.node.id), Some(file), "{path}");
        model.carry_out(Scope::Place(file), then);
    }
    assert_eq!(model.tree(), tree);
}

#[test]
fn a_move_is_shown_with_the_path_where_it_lands() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "sub");
    let inner = model.make(Kind::Folder, Some(folder), "inner");
    let file = model.make(Kind::File, Some(inner), "b.txt");
    let then = model.now;
    model.relocate(file, None, "c.txt");
    model.relocate(inner, Some(folder), "inner2");
    model.relocate(folder, None, "sub2");
    let plan = model.plan(Scope::Below(folder), then, Newer::Trash);
    let mut moved = plan.moved_paths(&model.past());
    moved.sort();
    let expected = [
        ("/c.txt", "/sub2/inner/b.txt"),
        ("/sub2/inner2", "/sub2/inner"),
    ];
    assert_eq!(moved, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn what_moved_away_with_its_folder_has_been_at_the_path_too() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "d");
    let inside = model.make(Kind::File, Some(folder), "f");
    model.relocate(folder, None, "e");
    let past = model.past();
    let found = past.others_at("/d/f", None);
    let found: Vec<NodeId> = found.iter().map(|one| one.node.id).collect();
    assert_eq!(found, [inside]);
    assert!(past.others_at("/d/g", None).is_empty());
}

#[test]
fn a_file_does_not_take_its_place_from_what_was_there_before_too() {
    let mut model = Model::default();
    let [x, y] = ["x", "y"].map(|name| model.make(Kind::File, None, name));
    let then = model.now;
    model.relocate(x, None, "z");
    model.relocate(y, None, "x");
    assert_eq!(
        model.past().at_path("/x", then),
        Some(Scope::Below(x)),
        "the one that is there now was elsewhere"
    );
    let plan = model.plan(Scope::Place(x), then, Newer::Trash);
    assert!(plan.is_empty(), "{plan:?}");
    assert_eq!(plan.incomplete.len(), 1);
    assert!(plan.incomplete[0].message.contains("/x"), "{plan:?}");
    // With the whole space in view, both go back.
    assert_eq!(model.plan(Scope::All, then, Newer::Trash).moves.len(), 2);
}

#[test]
fn a_file_that_went_with_its_folder_shows_its_deletion() {
    let mut model = Model::default();
    let folder = model.make(Kind::Folder, None, "d");
    let file = model.make(Kind::File, Some(folder), "f");
    model.delete(folder);
    let (past, deleted_at) = (model.past(), model.now);
    let deletions = |scope| {
        let all = crate::past::events(&past, scope, &[]);
        let deleted = all
            .into_iter()
            .filter(|e| e.kind == cairn_model::PastKind::Deleted);
        deleted.map(|e| (e.node, e.at_ms)).collect::<Vec<_>>()
    };
    assert_eq!(deletions(Scope::Below(file)), [(file, deleted_at)]);
    assert_eq!(deletions(Scope::All), [(folder, deleted_at)], "said once");
}

#[test]
fn the_temporary_name_of_an_exchange_is_in_no_history_and_comes_back_at_no_time() {
    let mut model = Model::default();
    let (a, b) = (
        model.make(Kind::File, None, "a"),
        model.make(Kind::File, None, "b"),
    );
    let before = model.tree();
    let temporary = ".cairn-detour-7d5a093a-b";
    model.relocate(b, None, temporary);
    let halfway = model.now;
    model.relocate(a, None, "b");
    model.relocate(b, None, "a");
    let events = crate::past::events(&model.past(), Scope::All, &[]);
    let moves: Vec<_> = events
        .iter()
        .filter(|event| event.kind == PastKind::Moved)
        .map(|event| (event.from.as_deref().unwrap(), event.path.as_str()))
        .collect();
    assert_eq!(moves, [("/a", "/b"), ("/b", "/a")]);
    let plan = model.plan(Scope::All, halfway, Newer::Keep);
    assert!(
        plan.moves.iter().all(|step| step.name != temporary),
        "{plan:?}"
    );
    model.carry_out(Scope::All, halfway - 1);
    assert_eq!(model.tree(), before);
}
