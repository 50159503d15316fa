//! Laws over random histories: one tree, changed on two devices, brought together again.
//!
//! `PROPTEST_CASES` sets the number of cases of each law. A failure prints its shrunk history and
//! adds its seed to `proptest-regressions/laws.txt`, which later runs try first.

use crate::device::Device;
use crate::scenario::Pair;
use crate::service::Service;
use cairn_model::{ContentHash, Kind, LocalId, Name, NodeId, RevisionId};
use cairn_plan::{Direction, LocalNode, RemoteNode, Step, SyncedNode, Trees, reconcile};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Few, so that histories overlap; two are one after normalisation.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "\u{e9}", "e\u{301}"];

fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() {
            default.cases
        } else {
            cases
        },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/laws.txt",
        ))),
        max_shrink_iters: 20_000,
        ..default
    }
}

/// Something a user does; the numbers choose among what is there.
#[derive(Clone, Copy, Debug)]
enum Act {
    Edit(u8),
    EditSame(u8),
    SaveAnew(u8),
    Create(u8, u8),
    CreateSame(u8, u8),
    Mkdir(u8, u8),
    Delete(u8),
    Move(u8, u8, u8),
    Swap(u8, u8),
    ReplaceType(u8),
    Chmod(u8),
    Touch(u8),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => any::<u8>().prop_map(Act::Edit),
        1 => any::<u8>().prop_map(Act::EditSame),
        1 => any::<u8>().prop_map(Act::SaveAnew),
        3 => any::<(u8, u8)>().prop_map(|(f, n)| Act::Create(f, n)),
        1 => any::<(u8, u8)>().prop_map(|(f, n)| Act::CreateSame(f, n)),
        2 => any::<(u8, u8)>().prop_map(|(f, n)| Act::Mkdir(f, n)),
        3 => any::<u8>().prop_map(Act::Delete),
        6 => any::<(u8, u8, u8)>().prop_map(|(w, f, n)| Act::Move(w, f, n)),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Act::Swap(a, b)),
        1 => any::<u8>().prop_map(Act::ReplaceType),
        1 => any::<u8>().prop_map(Act::Chmod),
        1 => any::<u8>().prop_map(Act::Touch),
    ]
}

fn moving() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<(u8, u8, u8)>().prop_map(|(w, f, n)| Act::Move(w, f, n)),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Act::Swap(a, b)),
    ]
}

fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 0..most)
}

/// Makes the base: mostly creations.
fn base() -> impl Strategy<Value = Vec<Act>> {
    let grow = prop_oneof![
        3 => any::<(u8, u8)>().prop_map(|(f, n)| Act::Create(f, n)),
        3 => any::<(u8, u8)>().prop_map(|(f, n)| Act::Mkdir(f, n)),
        1 => any::<(u8, u8, u8)>().prop_map(|(w, f, n)| Act::Move(w, f, n)),
    ];
    prop::collection::vec(grow, 0..14)
}

/// A user on a device, with a stock of bytes that nobody else writes.
struct User {
    mark: char,
    written: u32,
}

impl User {
    fn bytes(&mut self) -> String {
        self.written += 1;
        format!("{}{}", self.mark, self.written)
    }

    fn run(&mut self, device: &mut Device, acts: &[Act]) {
        for act in acts {
            self.act(device, *act);
        }
    }

    /// What is impossible is left out.
    fn act(&mut self, device: &mut Device, act: Act) {
        match act {
            Act::Edit(n) => {
                if let Some(id) = pick(device, n, Some(Kind::File)) {
                    let bytes = self.bytes();
                    write(device, id, &bytes);
                }
            }
            Act::EditSame(n) => {
                if let Some(id) = pick(device, n, Some(Kind::File)) {
                    write(device, id, "xx");
                }
            }
            Act::SaveAnew(n) => {
                if let Some(id) = pick(device, n, Some(Kind::File)) {
                    let old = device.local[&id].clone();
                    forget(device, id);
                    let bytes = self.bytes();
                    create(device, old.parent, &old.name, &bytes);
                }
            }
            Act::Create(f, n) => {
                let bytes = self.bytes();
                create(device, folder(device, f), &name(n), &bytes);
            }
            Act::CreateSame(f, n) => create(device, folder(device, f), &name(n), "xx"),
            Act::Mkdir(f, n) => {
                let (parent, name) = (folder(device, f), name(n));
                if device.check_place(parent, &name, None).is_ok() {
                    device.add(parent, &name, Kind::Folder);
                }
            }
            Act::Delete(n) => {
                if let Some(id) = pick(device, n, None) {
                    forget(device, id);
                }
            }
            Act::Move(w, f, n) => {
                if let Some(id) = pick(device, w, None) {
                    let to = folder(device, f);
                    let _impossible = device.relocate(id, to, &name(n));
                }
            }
            Act::Swap(a, b) => swap(device, a, b),
            Act::ReplaceType(n) => {
                if let Some(id) = pick(device, n, None) {
                    let old = device.local[&id].clone();
                    forget(device, id);
                    match old.kind {
                        Kind::File => {
                            device.add(old.parent, &old.name, Kind::Folder);
                        }
                        Kind::Folder => {
                            let bytes = self.bytes();
                            create(device, old.parent, &old.name, &bytes);
                        }
                    }
                }
            }
            Act::Chmod(n) => {
                if let Some(id) = pick(device, n, Some(Kind::File)) {
                    let node = device.local.get_mut(&id).unwrap();
                    node.executable = !node.executable;
                }
            }
            Act::Touch(n) => {
                if let Some(id) = pick(device, n, Some(Kind::File)) {
                    device.local.get_mut(&id).unwrap().hash = None;
                }
            }
        }
    }
}

fn name(n: u8) -> Name {
    Name::new(NAMES[usize::from(n) % NAMES.len()]).unwrap()
}

fn pick(device: &Device, n: u8, kind: Option<Kind>) -> Option<LocalId> {
    let fit: Vec<LocalId> = device
        .local
        .values()
        .filter(|l| kind.is_none_or(|k| l.kind == k) && !l.held)
        .map(|l| l.id)
        .collect();
    (!fit.is_empty()).then(|| fit[usize::from(n) % fit.len()])
}

fn folder(device: &Device, n: u8) -> Option<LocalId> {
    let mut fit: Vec<Option<LocalId>> = vec![None];
    fit.extend(
        device
            .local
            .values()
            .filter(|l| l.kind == Kind::Folder)
            .map(|l| Some(l.id)),
    );
    fit[usize::from(n) % fit.len()]
}

fn write(device: &mut Device, id: LocalId, bytes: &str) {
    let node = device.local.get_mut(&id).unwrap();
    node.hash = None;
    node.size = bytes.len() as u64;
    device.bytes.insert(id, bytes.to_owned());
}

fn create(device: &mut Device, parent: Option<LocalId>, name: &Name, bytes: &str) {
    if device.check_place(parent, name, None).is_ok() {
        let id = device.add(parent, name, Kind::File);
        write(device, id, bytes);
    }
}

/// A user's deletion: no trash.
fn forget(device: &mut Device, id: LocalId) {
    let kept = device.trash.len();
    device.remove(id);
    device.trash.truncate(kept);
}

fn swap(device: &mut Device, a: u8, b: u8) {
    let (Some(a), Some(b)) = (pick(device, a, None), pick(device, b, None)) else {
        return;
    };
    if a == b {
        return;
    }
    let (at_a, at_b) = (device.local[&a].clone(), device.local[&b].clone());
    let aside = Name::new("aside").unwrap();
    let undo = device.clone();
    let done = device
        .relocate(a, None, &aside)
        .and_then(|()| device.relocate(b, at_a.parent, &at_a.name))
        .and_then(|()| device.relocate(a, at_b.parent, &at_b.name));
    if done.is_err() {
        *device = undo;
    }
}

/// What is known of a history before it is brought together.
struct Oracle {
    must: BTreeSet<String>,
    must_not: BTreeSet<String>,
}

/// Where a node was: its synced parent and name.
type Place = (Option<NodeId>, Name);

fn oracle(
    base: &BTreeMap<NodeId, String>,
    synced: &BTreeMap<NodeId, SyncedNode>,
    a: &Device,
    b: &Device,
) -> Oracle {
    let mut must = BTreeSet::new();
    let mut must_not = BTreeSet::new();
    let old: BTreeSet<&String> = base.values().collect();
    for device in [a, b] {
        must.extend(
            device
                .bytes
                .values()
                .filter(|bytes| !old.contains(bytes))
                .cloned(),
        );
    }
    let place = |device: &Device, node: NodeId| -> Option<Place> {
        let local = device.local.get(&device.synced[&node].local)?;
        Some((
            local.parent.map(|p| device.node_of(p).unwrap_or(node)),
            local.name.clone(),
        ))
    };
    let moved = |device: &Device, node: NodeId| {
        place(device, node)
            .is_some_and(|now| now != (synced[&node].parent, synced[&node].name.clone()))
    };
    let path = |node: NodeId| {
        let names =
            std::iter::successors(Some(node), |n| synced[n].parent).map(|n| &synced[&n].name);
        names.collect::<Vec<_>>().into_iter().rev()
    };
    let find = |d: &Device, node: NodeId| {
        let folder = synced[&node].parent.map(|p| d.synced[&p].local);
        let key = synced[&node].name.key();
        let here = d
            .local
            .values()
            .find(|n| n.parent == folder && n.name.key() == key);
        if here.is_some() {
            return here.map(|n| Some(n.id));
        }
        path(node).try_fold(None, |at, name| {
            let below = d
                .local
                .values()
                .find(|n| n.parent == at && n.name.key() == name.key());
            below.map(|n| Some(n.id))
        })
    };
    for (&node, bytes) in base {
        // What stands at the old place is an edit, even if it was made anew.
        let made_anew = |d: &Device| {
            let new = find(d, node)
                .flatten()
                .is_some_and(|l| l != d.synced[&node].local);
            new && !d.local.contains_key(&d.synced[&node].local)
        };
        if made_anew(a) || made_anew(b) {
            continue;
        }
        let content = |d: &Device| d.bytes.get(&d.synced[&node].local).cloned();
        match (content(a), content(b)) {
            (Some(x), Some(y)) if x == *bytes && y == *bytes => {
                must.insert(bytes.clone());
            }
            (None, Some(left)) | (Some(left), None) if left == *bytes => {
                let left_on = if content(a).is_some() { a } else { b };
                let above = std::iter::successors(Some(node), |n| synced[n].parent);
                if moved(left_on, node) {
                    must.insert(bytes.clone());
                } else if !above.into_iter().any(|n| moved(left_on, n)) {
                    must_not.insert(bytes.clone());
                }
            }
            (_, _) => {}
        }
    }
    // Bytes that both write are nobody's in particular.
    must_not.remove("xx");
    Oracle { must, must_not }
}

/// A base on both devices, then each user's acts.
fn history(base: &[Act], a: &[Act], b: &[Act]) -> (Pair, Oracle) {
    let mut pair = Pair::with("");
    User {
        mark: 'o',
        written: 0,
    }
    .run(&mut pair.first, base);
    pair.settle();
    let bytes = pair
        .service
        .nodes
        .keys()
        .filter_map(|&n| Some((n, pair.service.content(n)?.to_owned())));
    let bytes = bytes.collect();
    let synced = pair.first.synced.clone();
    for device in [&mut pair.first, &mut pair.second] {
        device.transfers = 0;
    }
    User {
        mark: 'a',
        written: 0,
    }
    .run(&mut pair.first, a);
    User {
        mark: 'b',
        written: 0,
    }
    .run(&mut pair.second, b);
    let oracle = oracle(&bytes, &synced, &pair.first, &pair.second);
    (pair, oracle)
}

fn check(pair: &mut Pair, oracle: &Oracle) {
    pair.first.assert_equal_to(&pair.service);
    pair.second.assert_equal_to(&pair.service);
    assert_eq!(
        pair.first.paths(),
        pair.second.paths(),
        "the devices differ"
    );
    for device in [&mut pair.first, &mut pair.second] {
        assert!(device.plan(&pair.service).steps.is_empty(), "not at rest");
    }
    let paths = pair.first.paths();
    assert!(
        !paths.keys().any(|p| p.contains(".cairn-")),
        "a detour is left: {paths:?}"
    );
    let found: BTreeSet<String> = paths.into_values().flatten().collect();
    for bytes in &oracle.must {
        assert!(found.contains(bytes), "{bytes} is lost; left are {found:?}");
    }
    for bytes in &oracle.must_not {
        assert!(!found.contains(bytes), "{bytes} came back");
    }
}

/// Executes the beginning of a plan, as if the process died then.
fn die_after(device: &mut Device, service: &mut Service, steps: u8) {
    let plan = device.plan(service);
    let most = usize::from(steps) % (plan.steps.len() + 1);
    device.run(service, &plan.steps[..most]);
}

proptest! {
    #![proptest_config(config(4000))]

    /// Terminates, converges, loses nothing, brings nothing back, is idempotent.
    #[test]
    fn two_devices_end_equal(base in base(), a in acts(8), b in acts(8)) {
        let (mut pair, oracle) = history(&base, &a, &b);
        pair.settle();
        check(&mut pair, &oracle);
    }
}

proptest! {
    #![proptest_config(config(2500))]

    /// The same, though plans are cut short anywhere on either device.
    #[test]
    fn a_plan_may_be_cut_anywhere(base in base(), a in acts(7), b in acts(7), cuts in prop::collection::vec(any::<(bool, u8)>(), 0..8)) {
        let (mut pair, oracle) = history(&base, &a, &b);
        for (first, steps) in cuts {
            let device = if first { &mut pair.first } else { &mut pair.second };
            die_after(device, &mut pair.service, steps);
        }
        pair.settle();
        check(&mut pair, &oracle);
    }
}

proptest! {
    #![proptest_config(config(1000))]

    /// One editor alone: the other becomes what the first is, letter by letter, without any copy.
    #[test]
    fn one_editor_is_followed_exactly(base in base(), a in acts(12), cuts in prop::collection::vec(any::<u8>(), 0..3)) {
        let (mut pair, oracle) = history(&base, &a, &[]);
        let want = pair.first.paths();
        for steps in cuts {
            die_after(&mut pair.first, &mut pair.service, steps);
        }
        pair.settle();
        prop_assert_eq!(&pair.second.paths(), &want);
        check(&mut pair, &oracle);
    }

    /// Equal input gives an equal plan.
    #[test]
    fn plans_are_deterministic(base in base(), a in acts(8), b in acts(8)) {
        let (mut pair, _) = history(&base, &a, &b);
        pair.first.sync(&mut pair.service);
        let one = pair.second.plan(&pair.service);
        let two = reconcile(&pair.second.trees(&pair.service), &pair.second.policy);
        prop_assert_eq!(one, two);
    }

    /// Moves transfer nothing, whatever they meet.
    #[test]
    fn moves_transfer_nothing(base in base(), a in prop::collection::vec(moving(), 0..8), b in prop::collection::vec(moving(), 0..8)) {
        let (mut pair, oracle) = history(&base, &a, &b);
        pair.settle();
        prop_assert_eq!(pair.transfers(), 0);
        check(&mut pair, &oracle);
    }
}

proptest! {
    #![proptest_config(config(500))]

    /// A closed side stays as it is, and the device comes to rest.
    #[test]
    fn one_way_leaves_the_closed_side_alone(base in base(), a in acts(8), b in acts(8), up in any::<bool>()) {
        let (mut pair, _) = history(&base, &a, &b);
        pair.first.sync(&mut pair.service);
        pair.second.policy.direction = if up { Direction::Upload } else { Direction::Download };
        let (disk, nodes) = (pair.second.paths(), pair.service.nodes.clone());
        let local: BTreeSet<String> = pair.second.bytes.values().cloned().collect();
        pair.second.sync(&mut pair.service);
        if up {
            prop_assert_eq!(disk, pair.second.paths());
        } else {
            prop_assert_eq!(nodes, pair.service.nodes);
            let kept: BTreeSet<String> = pair.second.bytes.values().chain(&pair.second.trash).cloned().collect();
            prop_assert!(local.is_subset(&kept));
        }
    }

    /// What is held keeps its place in its folder and its bytes; the rest comes to rest.
    #[test]
    fn what_is_held_stays(base in base(), a in acts(8), b in acts(8), held in prop::collection::vec(any::<u8>(), 1..4)) {
        let (mut pair, _) = history(&base, &a, &b);
        for n in held {
            if let Some(id) = pick(&pair.second, n, None) {
                pair.second.local.get_mut(&id).unwrap().held = true;
            }
        }
        let fixed: Vec<LocalNode> = pair.second.local.values().filter(|n| n.held).cloned().collect();
        pair.settle();
        for node in fixed {
            let now = pair.second.local.get(&node.id);
            prop_assert!(now.is_some_and(|now| (now.parent, &now.name) == (node.parent, &node.name)));
        }
        // Released, all end equal again.
        for node in pair.second.local.values_mut() {
            node.held = false;
        }
        pair.settle();
        pair.first.assert_equal_to(&pair.service);
        pair.second.assert_equal_to(&pair.service);
    }

    /// Without consent nothing is deleted; with it, all is as if it had never waited.
    #[test]
    fn without_consent_nothing_is_deleted(base in base(), a in acts(8), b in acts(8)) {
        let (mut pair, oracle) = history(&base, &a, &b);
        for device in [&mut pair.first, &mut pair.second] {
            device.policy.hold_local_deletions = true;
            device.policy.hold_remote_deletions = true;
        }
        for _ in 0..3 {
            for device in [&mut pair.first, &mut pair.second] {
                let steps = device.sync(&mut pair.service);
                let deletes = |s: &Step| matches!(s, Step::TrashLocal { .. } | Step::TrashRemote { .. });
                prop_assert!(!steps.iter().any(deletes));
            }
        }
        for device in [&mut pair.first, &mut pair.second] {
            device.policy.hold_local_deletions = false;
            device.policy.hold_remote_deletions = false;
        }
        pair.settle();
        pair.first.assert_equal_to(&pair.service);
        pair.second.assert_equal_to(&pair.service);
        let found: BTreeSet<String> = pair.first.paths().into_values().flatten().collect();
        prop_assert!(oracle.must.is_subset(&found));
    }

    /// A snapshot that breaks every promise still gives a plan.
    #[test]
    fn nonsense_is_survived(trees in nonsense(), up in 0..3_u8, hold in any::<bool>()) {
        let mut policy = Device::new("x").policy;
        policy.direction = [Direction::TwoWay, Direction::Upload, Direction::Download][usize::from(up)];
        policy.hold_local_deletions = hold;
        let plan = reconcile(&trees, &policy);
        prop_assert!(plan.needs.is_empty() || plan.steps.is_empty());
        prop_assert_eq!(plan, reconcile(&trees, &policy));
    }
}

/// Trees over a handful of ids with rings, strays, twins, and files that have children.
fn nonsense() -> impl Strategy<Value = Trees> {
    let row = any::<(u8, u8, u8, u8, u8)>();
    prop::collection::vec((0..3_u8, row), 0..30).prop_map(|rows| {
        let node = |n: u8| NodeId(Uuid::from_u128(u128::from(n % 8)));
        let local = |n: u8| LocalId(i64::from(n % 8));
        let mut trees = Trees::default();
        for (tree, (id, parent, n, bits, size)) in rows {
            let kind = if bits & 1 == 0 {
                Kind::File
            } else {
                Kind::Folder
            };
            let hash = (bits & 2 == 0).then_some(ContentHash([size % 3; 32]));
            let revision =
                (kind == Kind::File).then_some(RevisionId(Uuid::from_u128(u128::from(size % 4))));
            let root = parent % 9 == 8;
            let (held, executable, size) = (bits & 12 == 12, bits & 16 == 0, u64::from(size % 2));
            match tree {
                0 => {
                    let parent = (!root).then(|| local(parent));
                    let row = LocalNode {
                        id: local(id),
                        parent,
                        name: name(n),
                        kind,
                        hash,
                        size,
                        executable,
                        held,
                    };
                    trees.local.insert(row.id, row);
                }
                1 => {
                    let parent = (!root).then(|| node(parent));
                    let row = RemoteNode {
                        id: node(id),
                        parent,
                        name: name(n),
                        kind,
                        revision,
                        hash,
                        size,
                        executable,
                        held,
                    };
                    trees.remote.insert(row.id, row);
                }
                _ => {
                    let parent = (!root).then(|| node(parent));
                    let row = SyncedNode {
                        node: node(id),
                        local: local(bits >> 5),
                        parent,
                        name: name(n),
                        kind,
                        revision,
                        hash,
                        size,
                        executable,
                    };
                    trees.synced.insert(row.node, row);
                }
            }
        }
        trees
    })
}
