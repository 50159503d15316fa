//! Executes steps on a device and the service, and refuses whatever can't be done as it stands.
//!
//! It is the least that a real executor must do, and says what each step means.

use crate::device::Device;
use crate::service::{Service, hash};
use cairn_model::{Kind, LocalId, NodeId};
use cairn_plan::{Parent, ParentAndName, Step, SyncedNode};

impl Device {
    pub(crate) fn execute(&mut self, service: &mut Service, step: &Step) -> Result<(), String> {
        match step {
            Step::Adopt { local, node } => self.link(service, *local, *node),
            Step::Forget { node } => {
                let base = self.synced.remove(node).ok_or("nothing to forget")?;
                let both_gone =
                    !self.local.contains_key(&base.local) && !service.nodes.contains_key(node);
                both_gone
                    .then_some(())
                    .ok_or_else(|| "a side still stands".into())
            }
            Step::Unlink { node } => self
                .synced
                .remove(node)
                .map(|_| ())
                .ok_or_else(|| "not linked".into()),
            Step::CreateLocalFolder { node, to } => {
                let local = self.put(to, Kind::Folder)?;
                self.record(service, local, *node)
            }
            Step::CreateRemoteFolder { local, to } => {
                let parent = self.remote_parent(to)?;
                let node = service.create(parent, &to.name, None)?;
                self.record(service, *local, node)
            }
            Step::RestoreRemote { node, local } => {
                if self.synced.get(node).is_none_or(|s| s.local != *local) {
                    return Err("restored for a file that it is not linked to".into());
                }
                service.restore(*node)
            }
            Step::MoveLocal { local, to, .. } => {
                let parent = self.local_parent(to)?;
                self.local_moves += 1;
                self.relocate(*local, parent, &to.name)?;
                self.refresh_place(service, *local);
                Ok(())
            }
            Step::MoveRemote { node, to, .. } => {
                let parent = self.remote_parent(to)?;
                service.relocate(*node, parent, &to.name)?;
                if let Some(base) = self.synced.get_mut(node).filter(|_| self.eager) {
                    base.parent = parent;
                    base.name = to.name.clone();
                }
                if let Some(local) = self.synced.get(node).map(|s| s.local) {
                    self.refresh_place(service, local);
                }
                Ok(())
            }
            Step::SetLocalExecutable {
                node,
                local,
                executable,
            } => {
                self.local.get_mut(local).ok_or("no such file")?.executable = *executable;
                self.refresh_bit(service, *node, *local);
                Ok(())
            }
            Step::SetRemoteExecutable {
                node,
                local,
                executable,
            } => {
                service
                    .nodes
                    .get_mut(node)
                    .ok_or("no such node")?
                    .executable = *executable;
                self.refresh_bit(service, *node, *local);
                Ok(())
            }
            Step::Download { node, over, to } => self.download(service, *node, *over, to),
            Step::Upload { local, over, to } => self.upload(service, *local, *over, to),
            Step::TrashLocal { node, local } => {
                let base = self.synced.get(node).ok_or("trash of what is not synced")?;
                if base.local != *local {
                    return Err("the node is linked to another file".into());
                }
                let gone = self.remove(*local);
                self.synced.retain(|_, s| !gone.contains(&s.local));
                Ok(())
            }
            Step::TrashRemote { node } => {
                let gone = service.delete(*node)?;
                self.synced.retain(|id, _| !gone.contains(id));
                Ok(())
            }
        }
    }

    fn link(&mut self, service: &Service, local: LocalId, node: NodeId) -> Result<(), String> {
        let here = self.local.get(&local).ok_or("no such file")?;
        let there = service.nodes.get(&node).ok_or("no such node")?;
        if here.kind != there.kind {
            return Err("a file linked to a folder".into());
        }
        if service.content(node) != self.bytes.get(&local).map(String::as_str) {
            return Err("different bytes linked".into());
        }
        self.record(service, local, node)
    }

    /// Writes what both sides agree on; a place or bit on which they differ stays as it was.
    fn record(&mut self, service: &Service, local: LocalId, node: NodeId) -> Result<(), String> {
        let double = self
            .synced
            .values()
            .any(|s| s.local == local && s.node != node);
        if double {
            return Err("one file linked to two nodes".into());
        }
        let here = self.local.get_mut(&local).ok_or("no such file")?;
        let there = service.nodes.get(&node).ok_or("no such node")?;
        if let Some(revision) = there.revision {
            self.opened.insert(revision);
        }
        here.hash = service.content(node).map(hash);
        let old = self.synced.get(&node);
        self.synced.insert(
            node,
            SyncedNode {
                node,
                local,
                parent: old.map_or(there.parent, |o| o.parent),
                name: old.map_or(&here.name, |o| &o.name).clone(),
                kind: there.kind,
                revision: there.revision,
                hash: here.hash,
                size: there.size,
                executable: old.map_or(here.executable, |o| o.executable),
            },
        );
        self.refresh_place(service, local);
        self.refresh_bit(service, node, local);
        Ok(())
    }

    fn refresh_place(&mut self, service: &Service, local: LocalId) {
        let Some(here) = self.local.get(&local) else {
            return;
        };
        let folder = here.parent.map(|p| self.node_of(p));
        let Some(node) = self.node_of(local) else {
            return;
        };
        let Some(there) = service.nodes.get(&node) else {
            return;
        };
        let same_folder = match folder {
            None => there.parent.is_none(),
            Some(linked) => linked.is_some() && linked == there.parent,
        };
        if same_folder && here.name == there.name {
            let base = self.synced.get_mut(&node).unwrap();
            base.parent = there.parent;
            base.name = there.name.clone();
        }
    }

    fn refresh_bit(&mut self, service: &Service, node: NodeId, local: LocalId) {
        let bit = service.nodes[&node].executable;
        if let Some(base) = self.synced.get_mut(&node)
            && self.local[&local].executable == bit
        {
            base.executable = bit;
        }
    }

    fn download(
        &mut self,
        service: &Service,
        node: NodeId,
        over: Option<LocalId>,
        to: &ParentAndName,
    ) -> Result<(), String> {
        let bytes = service.content(node).ok_or("no content")?.to_owned();
        let local = match over {
            None => self.put(to, Kind::File)?,
            Some(local) => {
                let here = self.local.get(&local).ok_or("no such file")?;
                if here.parent != self.local_parent(to)? || here.name != to.name {
                    return Err("the file stands elsewhere".into());
                }
                let old = self.bytes.remove(&local).ok_or("no bytes")?;
                self.trash.push(old);
                local
            }
        };
        let size = bytes.len() as u64;
        self.bytes.insert(local, bytes);
        let here = self.local.get_mut(&local).unwrap();
        here.size = size;
        here.executable = service.nodes[&node].executable;
        self.transfers += 1;
        self.record(service, local, node)
    }

    fn upload(
        &mut self,
        service: &mut Service,
        local: LocalId,
        over: Option<NodeId>,
        to: &ParentAndName,
    ) -> Result<(), String> {
        let parent = self.remote_parent(to)?;
        let bytes = self.bytes.get(&local).ok_or("no such file")?.clone();
        let executable = self.local[&local].executable;
        let node = match over {
            None => service.create(parent, &to.name, Some((&bytes, executable)))?,
            Some(node) => {
                let there = service.nodes.get(&node).ok_or("no such node")?;
                if there.parent != parent || there.name != to.name {
                    return Err("the node stands elsewhere".into());
                }
                service.write(node, &bytes, executable)?;
                node
            }
        };
        self.transfers += 1;
        self.record(service, local, node)
    }

    fn local_parent(&self, to: &ParentAndName) -> Result<Option<LocalId>, String> {
        let id = match to.parent {
            Parent::Root => return Ok(None),
            Parent::Local(id) => id,
            Parent::Node(node) => {
                self.synced
                    .get(&node)
                    .ok_or("the parent node is not linked")?
                    .local
            }
        };
        let folder = self.local.get(&id).ok_or("the local parent is gone")?;
        (folder.kind == Kind::Folder)
            .then_some(Some(id))
            .ok_or_else(|| "the parent is a file".into())
    }

    fn remote_parent(&self, to: &ParentAndName) -> Result<Option<NodeId>, String> {
        match to.parent {
            Parent::Root => Ok(None),
            Parent::Node(node) => Ok(Some(node)),
            Parent::Local(id) => self
                .node_of(id)
                .map(Some)
                .ok_or_else(|| "the parent has no node".into()),
        }
    }

    fn put(&mut self, to: &ParentAndName, kind: Kind) -> Result<LocalId, String> {
        let parent = self.local_parent(to)?;
        self.check_place(parent, &to.name, None)?;
        Ok(self.add(parent, &to.name, kind))
    }
}
