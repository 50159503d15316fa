//! Property tests of the planner over random histories: one tree, changed on two devices, brought together again.
//!
//! `PROPTEST_CASES` sets the number of cases of each property. A failure prints its shrunk history and
//! adds its seed to `proptest-regressions/properties.txt`, which later runs try first.

use crate::device::Device;
use crate::history::{Act, Oracle, acts, base, history, move_strategy, name, pick};
use crate::scenario::Pair;
use crate::service::Service;
use cairn_model::{ContentHash, Kind, LocalId, NodeId, RevisionId, SyncMode};
use cairn_plan::{Blocked, LocalNode, RemoteNode, Step, SyncedNode, Trees, reconcile};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;
use uuid::Uuid;

fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() {
            default.cases
        } else {
            cases
        },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "proptest-regressions/properties.txt",
        ))),
        max_shrink_iters: 20_000,
        ..default
    }
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
        "a temporary name is left: {paths:?}"
    );
    let found: BTreeSet<String> = paths.into_values().flatten().collect();
    for bytes in &oracle.must {
        assert!(found.contains(bytes), "{bytes} is lost; left are {found:?}");
    }
    for bytes in &oracle.must_not {
        assert!(!found.contains(bytes), "{bytes} came back");
    }
}

/// A history, whatever happens to it meanwhile, and all that must be true in the end.
pub(crate) fn bring_together(
    base: &[Act],
    a: &[Act],
    b: &[Act],
    meanwhile: impl FnOnce(&mut Pair),
) {
    let (mut pair, oracle) = history(base, a, b);
    meanwhile(&mut pair);
    pair.sync();
    check(&mut pair, &oracle);
}

/// Executes the beginning of a plan, as if the process died then.
pub(crate) fn die_after(device: &mut Device, service: &mut Service, steps: u8) {
    let plan = device.plan(service);
    let most = usize::from(steps) % (plan.steps.len() + 1);
    device.run(service, &plan.steps[..most]);
}

/// A new node with the same or other bytes, or a new empty folder, under the name of an old one.
fn replace(service: &mut Service, n: u8, same: bool) {
    let ids: Vec<NodeId> = service.nodes.keys().copied().collect();
    let Some(&id) = ids.get(usize::from(n) % ids.len().max(1)) else {
        return;
    };
    let old = service.nodes[&id].clone();
    let bytes = service
        .content(id)
        .map(|b| if same { b.to_owned() } else { format!("r{n}") });
    service.delete(id).unwrap();
    let new = bytes.as_deref().map(|b| (b, old.executable));
    service.create(old.parent, &old.name, new).unwrap();
}

proptest! {
    #![proptest_config(config(4000))]

    /// Terminates, converges, loses nothing, brings nothing back, is idempotent.
    #[test]
    fn two_devices_end_equal(base in base(), a in acts(8), b in acts(8)) {
        bring_together(&base, &a, &b, |_| {});
    }
}

proptest! {
    #![proptest_config(config(1500))]

    /// The same, though nothing comes out of the service's trash.
    #[test]
    fn two_devices_end_equal_without_a_trash(base in base(), a in acts(8), b in acts(8)) {
        bring_together(&base, &a, &b, |pair| pair.service.is_trash_shut = true);
    }
}

proptest! {
    #![proptest_config(config(2500))]

    /// The same, though plans are cut short anywhere on either device.
    #[test]
    fn a_plan_may_be_cut_anywhere(base in base(), a in acts(7), b in acts(7), cuts in prop::collection::vec(any::<(bool, u8)>(), 0..8), eager in any::<bool>()) {
        bring_together(&base, &a, &b, |pair| {
            pair.first.eager = eager;
            pair.second.eager = eager;
            for (first, steps) in cuts {
                let device = if first { &mut pair.first } else { &mut pair.second };
                die_after(device, &mut pair.service, steps);
            }
        });
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
        pair.sync();
        prop_assert_eq!(&pair.second.paths(), &want);
        check(&mut pair, &oracle);
    }

    /// Others may replace nodes on the service by new ones: what was written here is kept.
    #[test]
    fn what_is_replaced_on_the_service_is_followed(base in base(), b in acts(8), replaced in prop::collection::vec(any::<(u8, bool)>(), 1..4)) {
        let (mut pair, _) = history(&base, &[], &b);
        let known: BTreeSet<String> = pair.first.bytes.values().cloned().collect();
        let written: BTreeSet<String> = pair.second.bytes.values().filter(|b| !known.contains(*b)).cloned().collect();
        for (n, same) in replaced {
            replace(&mut pair.service, n, same);
        }
        pair.second.sync(&mut pair.service);
        pair.sync();
        check(&mut pair, &Oracle { must: written, must_not: BTreeSet::new() });
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
    fn moves_transfer_nothing(base in base(), a in prop::collection::vec(move_strategy(), 0..8), b in prop::collection::vec(move_strategy(), 0..8)) {
        let (mut pair, oracle) = history(&base, &a, &b);
        pair.sync();
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
        pair.second.policy.mode = if up { SyncMode::Upload } else { SyncMode::Download };
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

    /// A blocked node keeps its place in its folder, an unwanted one is left alone; the rest
    /// comes to rest. Released, all end equal.
    #[test]
    fn what_is_blocked_stays(base in base(), a in acts(8), b in acts(8), blocked in prop::collection::vec(any::<u8>(), 0..3), unwanted in prop::collection::vec(any::<u8>(), 0..3)) {
        let (mut pair, _) = history(&base, &a, &b);
        for n in blocked {
            if let Some(id) = pick(&pair.second, n, None) {
                pair.second.local.get_mut(&id).unwrap().blocked = true;
            }
        }
        let all: Vec<NodeId> = pair.service.nodes.keys().copied().collect();
        for n in unwanted {
            if !all.is_empty() {
                pair.second.unselected.insert(all[usize::from(n) % all.len()]);
            }
        }
        let fixed: Vec<LocalNode> = pair.second.local.values().filter(|n| n.blocked).cloned().collect();
        let unwanted: Vec<RemoteNode> = pair.second.unselected.iter().map(|n| pair.service.nodes[n].clone()).collect();
        pair.second.sync(&mut pair.service);
        for node in fixed {
            let now = pair.second.local.get(&node.id);
            prop_assert!(now.is_some_and(|now| (now.parent, &now.name) == (node.parent, &node.name)));
        }
        for node in unwanted {
            prop_assert_eq!(pair.service.nodes.get(&node.id), Some(&node));
        }
        pair.sync();
        pair.second.unselected.clear();
        for node in pair.second.local.values_mut() {
            node.blocked = false;
        }
        pair.sync();
        pair.first.assert_equal_to(&pair.service);
        pair.second.assert_equal_to(&pair.service);
    }

    /// Without consent nothing is deleted; with it, all is as if it had never waited.
    #[test]
    fn without_consent_nothing_is_deleted(base in base(), a in acts(8), b in acts(8)) {
        let (mut pair, oracle) = history(&base, &a, &b);
        for device in [&mut pair.first, &mut pair.second] {
            device.policy.block_local_deletions = true;
            device.policy.block_remote_deletions = true;
        }
        for _ in 0..3 {
            for device in [&mut pair.first, &mut pair.second] {
                let steps = device.sync(&mut pair.service);
                let deletes = |s: &Step| matches!(s, Step::TrashLocal { .. } | Step::TrashRemote { .. });
                prop_assert!(!steps.iter().any(deletes));
            }
        }
        for device in [&mut pair.first, &mut pair.second] {
            device.policy.block_local_deletions = false;
            device.policy.block_remote_deletions = false;
        }
        pair.sync();
        pair.first.assert_equal_to(&pair.service);
        pair.second.assert_equal_to(&pair.service);
        let found: BTreeSet<String> = pair.first.paths().into_values().flatten().collect();
        prop_assert!(oracle.must.is_subset(&found));
    }

    /// A snapshot that breaks every rule still gives a plan.
    #[test]
    fn nonsense_is_survived(trees in nonsense(), up in 0..3_u8, block in any::<bool>()) {
        let mut policy = Device::new("x").policy;
        policy.mode = [SyncMode::TwoWay, SyncMode::Upload, SyncMode::Download][usize::from(up)];
        policy.block_local_deletions = block;
        let plan = reconcile(&trees, &policy);
        prop_assert!(plan.needs.is_empty() || plan.steps.is_empty());
        prop_assert_eq!(plan, reconcile(&trees, &policy));
    }
}

/// Trees over a handful of ids with cycles, orphans, name duplicates, and files that have children.
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
            let (blocked, executable, size) =
                (bits & 12 == 12, bits & 16 == 0, u64::from(size % 2));
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
                        blocked,
                        is_unknown: false,
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
                        is_executable_sealed: bits & 1 == 0,
                        blocked: if blocked {
                            Blocked::Unsupported
                        } else {
                            Blocked::No
                        },
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
