//! Random histories: what users do on two devices after a common base, and the properties that the result must have.

use crate::device::Device;
use crate::scenario::Pair;
use cairn_model::{Kind, LocalId, Name, NodeId};
use cairn_plan::SyncedNode;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Few, so that histories overlap; two are one after normalisation.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "\u{e9}", "e\u{301}"];

/// Something a user does; the numbers choose among what is there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
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

pub(crate) fn move_strategy() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<(u8, u8, u8)>().prop_map(|(w, f, n)| Act::Move(w, f, n)),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Act::Swap(a, b)),
    ]
}

pub(crate) fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 0..most)
}

/// Makes the base: mostly creations.
pub(crate) fn base() -> impl Strategy<Value = Vec<Act>> {
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

    /// Skips impossible acts.
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

pub(crate) fn name(n: u8) -> Name {
    Name::new(NAMES[usize::from(n) % NAMES.len()]).unwrap()
}

pub(crate) fn pick(device: &Device, n: u8, kind: Option<Kind>) -> Option<LocalId> {
    let fit: Vec<LocalId> = device
        .local
        .values()
        .filter(|l| kind.is_none_or(|k| l.kind == k) && !l.blocked)
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

/// The knowledge of a history before it is brought together.
pub(crate) struct Oracle {
    pub(crate) must: BTreeSet<String>,
    pub(crate) must_not: BTreeSet<String>,
}

/// The location of a node: its synced parent and name.
type Location = (Option<NodeId>, Name);

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
    let place = |device: &Device, node: NodeId| -> Option<Location> {
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
pub(crate) fn history(base: &[Act], a: &[Act], b: &[Act]) -> (Pair, Oracle) {
    let mut pair = Pair::with("");
    User {
        mark: 'o',
        written: 0,
    }
    .run(&mut pair.first, base);
    pair.sync();
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
