//! The actions of a user on a device, as text: `mv d e; e/f=new; rm g; mkdir h`.

use crate::device::Device;
use cairn_model::{Kind, LocalId, Name};

impl Device {
    /// Runs the commands of a script one after another.
    ///
    /// `path=bytes` writes in place, `save path=bytes` writes a new file over the old one, as many
    /// programs do; folders on the way are made.
    pub(crate) fn user(&mut self, script: &str) {
        for command in script.split(';').map(str::trim).filter(|c| !c.is_empty()) {
            let words: Vec<&str> = command.split_whitespace().collect();
            match words.as_slice() {
                ["mv", from, to] => self.user_move(from, to),
                ["rm", path] => {
                    let id = self.find(path).unwrap_or_else(|| panic!("no {path}"));
                    let kept = self.trash.len();
                    self.remove(id);
                    self.trash.truncate(kept);
                }
                ["mkdir", path] => {
                    self.folder(path);
                }
                ["touch", path] => self.node(path).hash = None,
                ["chmod", path] => {
                    let node = self.node(path);
                    node.executable = !node.executable;
                }
                ["block", path] => self.node(path).blocked = true,
                ["unblock", path] => self.node(path).blocked = false,
                ["unreadable", path] => self.node(path).is_unknown = true,
                ["readable", path] => self.node(path).is_unknown = false,
                ["save", write] => {
                    let (path, bytes) = write.split_once('=').expect("save path=bytes");
                    if let Some(old) = self.find(path) {
                        self.local.remove(&old);
                        self.bytes.remove(&old);
                    }
                    self.write(path, bytes);
                }
                [write] if write.contains('=') => {
                    let (path, bytes) = write.split_once('=').expect("path=bytes");
                    self.write(path, bytes);
                }
                other => panic!("no such command: {other:?}"),
            }
        }
    }

    pub(crate) fn find(&self, path: &str) -> Option<LocalId> {
        let mut at = None;
        for name in path.split('/') {
            let below = self
                .local
                .values()
                .find(|n| n.parent == at && n.name.as_str() == name)?;
            at = Some(below.id);
        }
        at
    }

    fn node(&mut self, path: &str) -> &mut cairn_plan::LocalNode {
        let id = self.find(path).unwrap_or_else(|| panic!("no {path}"));
        self.local.get_mut(&id).unwrap()
    }

    fn folder(&mut self, path: &str) -> Option<LocalId> {
        let mut at = None;
        for name in path.split('/').filter(|n| !n.is_empty()) {
            let found = self
                .local
                .values()
                .find(|n| n.parent == at && n.name.as_str() == name);
            at = Some(match found.map(|n| n.id) {
                Some(id) => id,
                None => self.add(at, &Name::new(name).unwrap(), Kind::Folder),
            });
        }
        at
    }

    fn split<'p>(&mut self, path: &'p str) -> (Option<LocalId>, &'p str) {
        match path.rsplit_once('/') {
            Some((folder, name)) => (self.folder(folder), name),
            None => (None, path),
        }
    }

    fn write(&mut self, path: &str, bytes: &str) {
        let (parent, name) = self.split(path);
        let id = match self.find(path) {
            Some(id) => id,
            None => self.add(parent, &Name::new(name).unwrap(), Kind::File),
        };
        let node = self.local.get_mut(&id).unwrap();
        assert_eq!(node.kind, Kind::File, "{path} is a folder");
        node.hash = None;
        node.size = bytes.len() as u64;
        self.bytes.insert(id, bytes.to_owned());
    }

    fn user_move(&mut self, from: &str, to: &str) {
        let id = self.find(from).unwrap_or_else(|| panic!("no {from}"));
        let (parent, name) = self.split(to);
        if let Some(over) = self.find(to).filter(|over| *over != id) {
            assert_eq!(self.local[&over].kind, Kind::File, "mv over a folder");
            self.local.remove(&over);
            self.bytes.remove(&over);
        }
        self.relocate(id, parent, &Name::new(name).unwrap())
            .unwrap();
    }
}
