//! A device in memory: a disk, an index, and an executor that refuses whatever can't be done.
//!
//! It is the least that a real one must do; so a plan that passes here is executable as it stands.

use crate::service::{Service, hash};
use cairn_model::{Kind, LocalId, Name, NameKey, NodeId, RevisionId, SyncMode};
use cairn_plan::{Blocked, LocalNode, Need, Plan, Policy, Step, SyncedNode, Trees, reconcile};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) policy: Policy,
    pub(crate) local: BTreeMap<LocalId, LocalNode>,
    pub(crate) bytes: BTreeMap<LocalId, String>,
    pub(crate) synced: BTreeMap<NodeId, SyncedNode>,
    /// Nodes that this device does not want.
    pub(crate) unselected: BTreeSet<NodeId>,
    pub(crate) trash: Vec<String>,
    pub(crate) transfers: u32,
    pub(crate) local_moves: u32,
    /// Records each move on the service in the synced tree at once, temporary names too; with and without this,
    /// plans must be correct.
    pub(crate) eager: bool,
    /// Takes `a` and `A` for one name, and knows all names that are one.
    pub(crate) ignores_case: bool,
    pub(crate) opened: BTreeSet<RevisionId>,
    next: i64,
}

impl Device {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            policy: Policy {
                mode: SyncMode::TwoWay,
                device: name.to_owned(),
                stamp: "2026-01-02 030405".to_owned(),
                block_local_deletions: false,
                block_remote_deletions: false,
                held: BTreeSet::new(),
            },
            local: BTreeMap::new(),
            bytes: BTreeMap::new(),
            synced: BTreeMap::new(),
            unselected: BTreeSet::new(),
            trash: Vec::new(),
            transfers: 0,
            local_moves: 0,
            eager: false,
            ignores_case: false,
            opened: BTreeSet::new(),
            next: 0,
        }
    }

    pub(crate) fn trees(&self, service: &Service) -> Trees {
        let mut remote = service.nodes.clone();
        for node in remote.values_mut() {
            let opened = node.revision.filter(|r| self.opened.contains(r));
            node.hash = opened.and_then(|r| service.bytes.get(&r)).map(|b| hash(b));
            if self.unselected.contains(&node.id) {
                node.blocked = Blocked::Unselected;
            }
        }
        Trees {
            local: self.local.clone(),
            remote,
            synced: self.synced.clone(),
            trashed: self
                .synced
                .values()
                .filter(|base| service.can_restore(base))
                .map(|base| base.node)
                .collect(),
            aliases: self.aliases(service),
        }
    }

    /// Returns the names of the service that are one with a name on this disk, whatever their folders.
    fn aliases(&self, service: &Service) -> BTreeMap<LocalId, BTreeSet<Name>> {
        let mut aliases: BTreeMap<LocalId, BTreeSet<Name>> = BTreeMap::new();
        for (id, here) in self.local.iter().filter(|_| self.ignores_case) {
            let names = service.nodes.values().map(|there| &there.name);
            let same =
                names.filter(|name| *name != &here.name && self.key(name) == self.key(&here.name));
            aliases.entry(*id).or_default().extend(same.cloned());
        }
        aliases
    }

    /// Returns what is the same of all names that are one on this disk.
    fn key(&self, name: &Name) -> NameKey {
        match self.ignores_case {
            true => Name::new(name.as_str().to_lowercase()).unwrap().key(),
            false => name.key(),
        }
    }

    /// Plans once, after looking up whatever the planner asks for.
    pub(crate) fn plan(&mut self, service: &Service) -> Plan {
        for _ in 0..20 {
            let plan = reconcile(&self.trees(service), &self.policy);
            if plan.needs.is_empty() {
                return plan;
            }
            assert!(plan.steps.is_empty(), "a plan with needs has no steps");
            for need in &plan.needs {
                match need {
                    Need::LocalHash(id) => {
                        let known = hash(&self.bytes[id]);
                        let node = self.local.get_mut(id).unwrap();
                        assert!(node.hash.is_none(), "asked for a hash that is known");
                        node.hash = Some(known);
                    }
                    Need::RemoteHash(id) => {
                        let revision = service.nodes[id].revision.unwrap();
                        assert!(
                            self.opened.insert(revision),
                            "asked for a hash that is known"
                        );
                    }
                }
            }
        }
        panic!("the planner asks for ever");
    }

    /// Plans and executes until nothing is left to do; returns all steps.
    pub(crate) fn sync(&mut self, service: &mut Service) -> Vec<Step> {
        let mut all = Vec::new();
        for _ in 0..20 {
            let plan = self.plan(service);
            if plan.steps.is_empty() {
                return all;
            }
            self.run(service, &plan.steps);
            all.extend(plan.steps);
        }
        panic!(
            "still planning after 20 rounds: {:#?}",
            self.plan(service).steps
        );
    }

    pub(crate) fn run(&mut self, service: &mut Service, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            if let Err(why) = self.execute(service, step) {
                panic!(
                    "step {at} {step:?} is not executable: {why}\nof {steps:#?}\nlocal {:#?}",
                    self.paths()
                );
            }
        }
    }

    pub(crate) fn node_of(&self, local: LocalId) -> Option<NodeId> {
        self.synced
            .values()
            .find(|s| s.local == local)
            .map(|s| s.node)
    }

    pub(crate) fn add(&mut self, parent: Option<LocalId>, name: &Name, kind: Kind) -> LocalId {
        self.next += 1;
        let id = LocalId(self.next);
        let node = LocalNode {
            id,
            parent,
            name: name.clone(),
            kind,
            hash: None,
            size: 0,
            executable: false,
            blocked: false,
            is_unknown: false,
        };
        self.local.insert(id, node);
        id
    }

    pub(crate) fn check_place(
        &self,
        parent: Option<LocalId>,
        name: &Name,
        own: Option<LocalId>,
    ) -> Result<(), String> {
        let taken = |n: &&LocalNode| {
            n.parent == parent && self.key(&n.name) == self.key(name) && Some(n.id) != own
        };
        match self.local.values().find(taken) {
            Some(_) => Err(format!("the local name {name:?} is taken")),
            None => Ok(()),
        }
    }

    pub(crate) fn relocate(
        &mut self,
        id: LocalId,
        parent: Option<LocalId>,
        name: &Name,
    ) -> Result<(), String> {
        self.check_place(parent, name, Some(id))?;
        let mut at = parent;
        while let Some(folder) = at {
            if folder == id {
                return Err(format!("{name:?} would move into itself"));
            }
            at = self.local[&folder].parent;
        }
        let node = self.local.get_mut(&id).ok_or("no such file")?;
        node.parent = parent;
        node.name = name.clone();
        Ok(())
    }

    /// Removes with everything below; the bytes go to the trash.
    pub(crate) fn remove(&mut self, id: LocalId) -> BTreeSet<LocalId> {
        let mut gone = BTreeSet::from([id]);
        loop {
            let below = self
                .local
                .values()
                .filter(|n| n.parent.is_some_and(|p| gone.contains(&p)));
            let more: Vec<LocalId> = below.map(|n| n.id).filter(|n| !gone.contains(n)).collect();
            if more.is_empty() {
                break;
            }
            gone.extend(more);
        }
        for id in &gone {
            self.local.remove(id);
            if let Some(bytes) = self.bytes.remove(id) {
                self.trash.push(bytes);
            }
        }
        gone
    }

    /// Every path with its bytes; `None` for a folder.
    pub(crate) fn paths(&self) -> BTreeMap<String, Option<String>> {
        let path = |id: LocalId| {
            let mut names = Vec::new();
            let mut at = Some(id);
            while let Some(id) = at {
                names.push(self.local[&id].name.as_str());
                at = self.local[&id].parent;
            }
            names.reverse();
            names.join("/")
        };
        self.local
            .keys()
            .map(|&id| (path(id), self.bytes.get(&id).cloned()))
            .collect()
    }

    /// Fails unless disk, index and service say the same.
    pub(crate) fn assert_equal_to(&self, service: &Service) {
        let linked: BTreeSet<LocalId> = self.synced.values().map(|s| s.local).collect();
        assert_eq!(
            linked,
            self.local.keys().copied().collect(),
            "disk and index differ"
        );
        let nodes: BTreeSet<&NodeId> = self.synced.keys().collect();
        assert_eq!(
            nodes,
            service.nodes.keys().collect(),
            "service and index differ"
        );
        for base in self.synced.values() {
            let (here, there) = (&self.local[&base.local], &service.nodes[&base.node]);
            let folder = here.parent.map(|p| self.node_of(p).unwrap());
            assert_eq!(
                (folder, &here.name),
                (there.parent, &there.name),
                "places differ"
            );
            assert_eq!(
                (base.parent, &base.name),
                (there.parent, &there.name),
                "the index is stale"
            );
            assert_eq!(
                self.bytes.get(&here.id).map(String::as_str),
                service.content(there.id)
            );
            assert_eq!(
                (base.revision, base.hash),
                (there.revision, service.content(there.id).map(hash))
            );
            assert_eq!(here.executable, there.executable, "bits differ");
            assert_eq!(
                base.executable, there.executable,
                "the index has another bit"
            );
        }
    }
}
