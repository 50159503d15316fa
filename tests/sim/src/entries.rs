//! The files of a device, to be compared with those of another one or of another time.

use crate::device::{Device, path};
use crate::disk::Node;
use crate::oracle::label;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The files of a device.
#[derive(PartialEq)]
pub(crate) struct Entries(BTreeMap<String, Entry>);

/// The bytes of a file, none of a folder, and whether it is executable, where the disk keeps that.
struct Entry(Option<Arc<Vec<u8>>>, Option<bool>);

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let same_bit = match (self.1, other.1) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        same_bit && self.0 == other.0
    }
}

impl Entries {
    pub(crate) fn of(device: &Device) -> Self {
        let mut entries = BTreeMap::new();
        device.disk.look(|files| {
            let root = files.get(&path("")).expect("nobody removes it");
            add_entries(root, "", &mut entries);
        });
        Self(entries)
    }

    /// Leaves out the files and folders at some paths.
    pub(crate) fn without(mut self, paths: &BTreeSet<String>) -> Self {
        self.0.retain(|path, _| !paths.contains(path));
        self
    }

    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        paths
            .into_iter()
            .map(|path| (path, self.0.get(path), other.0.get(path)))
            .filter(|(_, one, other)| one != other)
            .map(|(path, one, other)| format!("{path}: {}, {}", describe(one), describe(other)))
            .collect()
    }

    /// Checks that a look at all files and a question to the service have found nothing new.
    pub(crate) fn check_unchanged(&self, device: &Device) -> Result<(), String> {
        let changes = self.differences(&Self::of(device));
        match changes.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{} was at rest, and a full look has found more: {changes:#?}",
                device.name
            )),
        }
    }

    /// Checks that a device whose files nobody but its user changes is as it was after his latest action: nothing may
    /// come back there, go, or be undone.
    pub(crate) fn check_untouched(&self, device: &Device) -> Result<(), String> {
        let changes = self.differences(&Self::of(device));
        if changes.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} was changed, and nobody but its user may: {changes:#?}",
            device.name
        ))
    }
}

fn add_entries(dir: &Node, above: &str, entries: &mut BTreeMap<String, Entry>) {
    for (name, node) in dir.children.iter().flatten() {
        // Our own directories are nobody's files.
        if above.is_empty() && name.starts_with(".cairn-t") {
            continue;
        }
        let data = node.children.is_none().then(|| Arc::clone(&node.data));
        entries.insert(format!("{above}{name}"), Entry(data, node.executable));
        add_entries(node, &format!("{above}{name}/"), entries);
    }
}

fn describe(entry: Option<&Entry>) -> String {
    match entry {
        None => "nothing".into(),
        Some(Entry(None, _)) => "a folder".into(),
        Some(Entry(Some(bytes), Some(true))) => format!("{}, executable", label(bytes)),
        Some(Entry(Some(bytes), Some(false) | None)) => label(bytes).into_owned(),
    }
}
