//! The rules files of a folder, by their directories. The one in the deepest directory that says something about a
//! path decides.

use super::file::{Decision, RulesFile};
use cairn_model::{Name, RelPath};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rules files, and those in the directories below. A directory without any below it has no place here, so that
/// the way down to a path ends early.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulesTree {
    here: Option<Arc<RulesFile>>,
    below: BTreeMap<Name, RulesTree>,
}

impl RulesTree {
    /// Makes the rules of texts.
    pub(crate) fn new(texts: &BTreeMap<RelPath, String>) -> Self {
        let mut tree = Self::default();
        for (dir, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            tree.set(dir, Some(Arc::new(RulesFile::new(text))));
        }
        tree
    }

    /// Returns the rules file in a directory.
    pub(crate) fn get(&self, dir: &RelPath) -> Option<&Arc<RulesFile>> {
        let mut at = self;
        for name in dir.names() {
            at = at.below.get(name)?;
        }
        at.here.as_ref()
    }

    /// Replaces the rules file in a directory, or removes it.
    pub(crate) fn set(&mut self, dir: &RelPath, file: Option<Arc<RulesFile>>) {
        self.set_below(dir.names(), file);
    }

    fn set_below(&mut self, names: &[Name], file: Option<Arc<RulesFile>>) {
        let Some((first, rest)) = names.split_first() else {
            self.here = file;
            return;
        };
        if file.is_none() && !self.below.contains_key(first) {
            return;
        }
        let below = self.below.entry(first.clone()).or_default();
        below.set_below(rest, file);
        if below.is_empty() {
            self.below.remove(first);
        }
    }

    /// Returns whether there is no rules file at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.here.is_none() && self.below.is_empty()
    }

    /// Returns the directories with a rules file below the root.
    pub(crate) fn nested_dirs(&self) -> Vec<RelPath> {
        let mut found = Vec::new();
        let mut left: Vec<(RelPath, &Self)> = vec![(RelPath::root(), self)];
        while let Some((dir, tree)) = left.pop() {
            if tree.here.is_some() && !dir.is_root() {
                found.push(dir.clone());
            }
            let below = tree.below.iter();
            left.extend(below.map(|(name, tree)| (dir.join(name.clone()), tree)));
        }
        found.sort();
        found
    }

    /// Returns the length of all texts.
    pub(crate) fn texts_len(&self) -> usize {
        let text = self.here.as_ref().and_then(|file| file.text());
        let below: usize = self.below.values().map(Self::texts_len).sum();
        text.map_or(0, str::len) + below
    }

    /// Returns the decision about a path that has no ignored folder above it, with the number of names above the
    /// rules file that makes it. `text` is the path as text.
    pub(crate) fn decide(
        &self,
        path: &RelPath,
        text: &str,
        is_dir: bool,
    ) -> Option<(usize, Decision<'_>)> {
        self.decide_below(path.names(), text, is_dir)
    }

    fn decide_below(
        &self,
        names: &[Name],
        text: &str,
        is_dir: bool,
    ) -> Option<(usize, Decision<'_>)> {
        let (first, rest) = names.split_first()?;
        if !rest.is_empty()
            && let Some(below) = self.below.get(first)
            && let Some(text) = text.get(first.as_str().len() + 1..)
            && let Some((depth, decision)) = below.decide_below(rest, text, is_dir)
        {
            return Some((depth + 1, decision));
        }
        let decision = self.here.as_ref()?.decide(text, is_dir)?;
        Some((0, decision))
    }
}
