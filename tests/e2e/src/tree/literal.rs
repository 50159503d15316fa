//! Reads the short text that describes a tree.

use super::{Content, Entry, Tree};
use std::path::{Path, PathBuf};

impl Tree {
    /// Reads a literal such as `a=1; d/b=2; empty/; CC(a)=3`.
    ///
    /// # Panics
    /// A text that is no literal: a mistake in the test.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        let mut tree = Self::default();
        for line in text
            .split(';')
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            match line.split_once('=') {
                Some((path, content)) => {
                    tree.add(path.trim(), Entry::File(Content::new(content.as_bytes())))
                }
                None => {
                    let path = line.strip_suffix('/');
                    assert!(
                        path.is_some(),
                        "`{line}` is neither `path=text` nor `path/`"
                    );
                    tree.add(path.unwrap_or_default(), Entry::Dir);
                }
            }
        }
        tree
    }

    /// Adds a file, with the directories above it.
    #[must_use]
    pub fn with_file(mut self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        self.insert(
            path.as_ref().to_owned(),
            Entry::File(Content::new(content.as_ref())),
        );
        self
    }

    fn add(&mut self, path: &str, entry: Entry) {
        self.insert(PathBuf::from(path), entry);
    }

    fn insert(&mut self, path: PathBuf, entry: Entry) {
        for parent in path
            .ancestors()
            .skip(1)
            .filter(|p| !p.as_os_str().is_empty())
        {
            self.0.entry(parent.to_owned()).or_insert(Entry::Dir);
        }
        self.0.insert(path, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_implies_the_directories_above() {
        let tree = Tree::literal("a/b/c=x; q/; empty=");
        let paths: Vec<_> = tree
            .0
            .keys()
            .map(|path| path.display().to_string())
            .collect();
        assert_eq!(paths, ["a", "a/b", "a/b/c", "empty", "q"]);
        assert_eq!(tree.file("a/b/c"), Some(&Content::new(b"x")));
        assert_eq!(tree.0[Path::new("q")], Entry::Dir);
    }

    #[test]
    #[should_panic(expected = "neither")]
    fn a_path_without_content_is_a_mistake() {
        let _ = Tree::literal("a");
    }
}
