//! Problems that scans have found. A scan of a few directories says nothing about those that it has not listed.

use super::Health;
use crate::observe::scan::Hinted;
use cairn_model::{FolderId, Problem, ProblemCode, RelPath};
use std::collections::{BTreeMap, BTreeSet};

impl Health {
    /// Replaces the problems of a whole folder by those that a scan has found.
    pub(crate) fn record_whole_scan(&mut self, folder: FolderId, problems: Vec<Problem>) {
        let problems = problems.into_iter().map(|one| (one.path.clone(), one));
        self.scanned.insert(folder, problems.collect());
    }

    /// Replaces the problems of what a scan has looked at: directories, and everything below names in them. Those at
    /// the paths of `unlisted` stay.
    pub(crate) fn record_scan(
        &mut self,
        folder: FolderId,
        dirs: &Hinted,
        unlisted: &BTreeSet<RelPath>,
        problems: Vec<Problem>,
    ) {
        let known = self.scanned.entry(folder).or_default();
        known.retain(|path, _| match parse(path) {
            Some(path) => unlisted.contains(&path) || !is_looked_at(&path, dirs),
            None => !dirs.contains_key(&nearest(path)),
        });
        known.extend(problems.into_iter().map(|one| (one.path.clone(), one)));
    }

    /// Returns the paths that the disk has refused to the last scan that looked at them.
    pub(crate) fn refused_by_disk(&self, folder: FolderId) -> Vec<RelPath> {
        let paths = self.paths(folder, &[ProblemCode::Unreadable, ProblemCode::Disk]);
        paths.collect()
    }

    /// Returns whether the disk has refused something to a scan of a folder.
    pub(crate) fn is_disk_refusing(&self, folder: FolderId) -> bool {
        !self.refused_by_disk(folder).is_empty()
    }

    /// Returns the paths of symbolic links and the like, or of directories with many of them, whose parent a scan of
    /// `dirs` lists, but not these themselves.
    pub(crate) fn special_below(&self, folder: FolderId, dirs: &Hinted) -> Vec<RelPath> {
        self.paths(folder, &[ProblemCode::Special, ProblemCode::Symlink])
            .filter(|path| {
                let parent = path.parent().and_then(|parent| dirs.get(&parent));
                let is_hinted =
                    |names: &BTreeSet<_>| path.name().is_some_and(|n| names.contains(n));
                parent.is_some_and(|names| !is_hinted(names)) && !dirs.contains_key(path)
            })
            .collect()
    }

    fn paths(&self, folder: FolderId, codes: &[ProblemCode]) -> impl Iterator<Item = RelPath> {
        let problems = self.scanned.get(&folder);
        problems
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter(|one| codes.contains(&one.code))
            .filter_map(|one| parse(&one.path))
    }
}

fn parse(path: &str) -> Option<RelPath> {
    RelPath::parse(path).ok()
}

/// Returns the directory of a path whose name can't be one that is synced.
fn nearest(path: &str) -> RelPath {
    let above = path.rsplit_once('/').and_then(|(dir, _)| parse(dir));
    above.unwrap_or_default()
}

/// Returns whether a scan of these directories looks at a path: at one of them, at a name in them, or below a name for
/// which there was a hint.
fn is_looked_at(path: &RelPath, dirs: &Hinted) -> bool {
    let mut dir = RelPath::root();
    for (at, name) in path.names().iter().enumerate() {
        if let Some(names) = dirs.get(&dir)
            && (at + 1 == path.names().len() || names.contains(name))
        {
            return true;
        }
        dir = dir.join(name.clone());
    }
    dirs.contains_key(&dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: FolderId = FolderId(1);

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn problem(path: &str, code: ProblemCode) -> Problem {
        Problem {
            path: path.to_owned(),
            code,
            ..Problem::default()
        }
    }

    #[test]
    fn a_scan_of_a_few_directories_replaces_what_it_has_looked_at_and_nothing_else() {
        let mut health = Health::new(1);
        let all = [
            "",
            "d",
            "d/bad",
            "d/e",
            "d/e/f",
            "d/e/f/g",
            "x",
            "x/y",
            "d/\u{fffd}\u{0}",
        ];
        let problems = all.map(|path| problem(path, ProblemCode::Unreadable));
        health.record_whole_scan(FOLDER, problems.to_vec());
        let hinted = BTreeSet::from(["e"].map(|name| path(name).names()[0].clone()));
        let dirs = Hinted::from([(path("d"), hinted)]);
        health.record_scan(FOLDER, &dirs, &BTreeSet::from([path("d/bad")]), Vec::new());
        let left: Vec<&String> = health.scanned[&FOLDER].keys().collect();
        assert_eq!(left, ["", "d/bad", "x", "x/y"]);
        health.record_whole_scan(FOLDER, vec![problem("x", ProblemCode::Disk)]);
        assert_eq!(health.refused_by_disk(FOLDER), [path("x")]);
    }

    #[test]
    fn what_is_special_below_a_listed_directory_is_named_unless_it_is_listed_itself() {
        let mut health = Health::new(1);
        let all = ["links", "hinted", "deep/links"];
        let problems = all.map(|path| problem(path, ProblemCode::Symlink));
        health.record_whole_scan(FOLDER, problems.to_vec());
        let hinted = BTreeSet::from(["hinted"].map(|name| path(name).names()[0].clone()));
        let dirs = Hinted::from([(RelPath::root(), hinted)]);
        assert_eq!(health.special_below(FOLDER, &dirs), [path("links")]);
    }
}
