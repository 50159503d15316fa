//! The paths of a folder that a preview leaves out, and the places that a person should know of.

use crate::output::text::clean;
use cairn_engine::{OWN_FILES, RuleMatch, Rules, is_mount_point};
use cairn_model::{RelPath, SyncMode};
use cairn_platform::{Disk as _, RealDisk, dirs};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Places in a folder that a person should know of.
#[derive(Default)]
pub(super) struct Places {
    /// Installations of Cairn keep their files there.
    pub(super) own: BTreeSet<RelPath>,
    /// Other file systems are mounted there.
    pub(super) mounts: BTreeSet<RelPath>,
}

/// A walk through a folder.
pub(super) struct Walk {
    /// The rules, to which those of the directories are added as they are come to.
    rules: Rules,
    local: PathBuf,
    /// The directories above which all was read.
    read: BTreeSet<RelPath>,
    /// Folders with whether they are left out.
    folders: BTreeMap<RelPath, bool>,
    pub(super) places: Places,
}

impl Walk {
    pub(super) fn new(rules: Rules, local: &Path) -> Self {
        Self {
            rules,
            local: local.to_owned(),
            read: BTreeSet::new(),
            folders: BTreeMap::new(),
            places: Places::default(),
        }
    }

    /// Returns whether a path, or a folder above it, is not synced.
    pub(super) fn leaves_out(&mut self, path: &RelPath, is_dir: bool) -> bool {
        if path.is_root() {
            return false;
        }
        if let Some(known) = self.folders.get(path) {
            return *known;
        }
        let is_above = path
            .parent()
            .is_some_and(|above| self.leaves_out(&above, true));
        let is_out = is_above || self.is_left_out(path, is_dir);
        if is_dir {
            self.folders.insert(path.clone(), is_out);
        }
        is_out
    }

    /// Returns whether a path is not synced, and notes what a person should know of it.
    pub(super) fn is_left_out(&mut self, path: &RelPath, is_dir: bool) -> bool {
        let is_own = match self.check(path, is_dir) {
            RuleMatch::Ignored(rule) if rule == OWN_FILES => true,
            RuleMatch::Ignored(_) => return true,
            RuleMatch::Included(_) | RuleMatch::None => {
                is_dir && dirs::is_marked(&path.to_path(&self.local))
            }
        };
        if is_own {
            self.places.own.insert(path.clone());
        } else if is_dir && self.is_mount(path) {
            self.places.mounts.insert(path.clone());
        }
        is_own
    }

    fn check(&mut self, path: &RelPath, is_dir: bool) -> RuleMatch {
        if let Some(dir) = path.parent()
            && self.read.insert(dir)
        {
            self.rules.read_above(&RealDisk::new(), &self.local, path);
        }
        self.rules.check(path, is_dir)
    }

    /// Returns whether another file system is mounted on a directory.
    fn is_mount(&self, path: &RelPath) -> bool {
        let stat = |path: &RelPath| RealDisk::new().stat(&path.to_path(&self.local)).ok();
        let above = path.parent().and_then(|above| stat(&above));
        let found = above.zip(stat(path));
        found.is_some_and(|(above, dir)| is_mount_point(&above, &dir))
    }
}

/// Returns what a person should know of places in a folder.
pub(super) fn place_lines(places: &Places, mode: SyncMode) -> Vec<String> {
    let mut lines = Vec::new();
    for path in &places.own {
        lines.push(format!(
            "{} is left out: Cairn keeps files of its own there",
            clean(&path.to_string())
        ));
    }
    if let Some(limit) = mount_limit(mode) {
        let line = |path: &RelPath| {
            let path = clean(&path.to_string());
            format!("{path} is another file system: {limit}")
        };
        lines.extend(places.mounts.iter().map(line));
    }
    lines
}

/// Returns what a file system that is mounted in a folder does not take part in, if that matters.
fn mount_limit(mode: SyncMode) -> Option<&'static str> {
    match mode {
        SyncMode::TwoWay => {
            Some("what is on it is uploaded, and what comes from the service can't be put there")
        }
        SyncMode::Download => Some("what comes from the service can't be put there"),
        SyncMode::Upload => None,
    }
}

pub(super) fn paths(paths: &BTreeSet<RelPath>) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}
