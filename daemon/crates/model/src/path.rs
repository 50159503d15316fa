//! Paths inside a synced folder.

use crate::name::{InvalidName, Name};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A path relative to a folder's root: names from the top down, empty for the root itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RelPath(Vec<Name>);

impl RelPath {
    /// The root of a folder.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads `a/b/c`; the empty text is the root.
    ///
    /// # Errors
    /// [`InvalidName`] for a component that isn't a [`Name`].
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        text.split('/')
            .map(Name::new)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns the path of `name` in this folder.
    #[must_use]
    pub fn join(&self, name: Name) -> Self {
        let mut names = self.0.clone();
        names.push(name);
        Self(names)
    }

    /// Returns the folder that it lies in; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.to_vec()))
    }

    /// Returns the last name; `None` for the root.
    #[must_use]
    pub fn name(&self) -> Option<&Name> {
        self.0.last()
    }

    /// Returns the names from the top down.
    #[must_use]
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// Returns whether it is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `self` is `ancestor` or lies below it.
    #[must_use]
    pub fn starts_with(&self, ancestor: &Self) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// Returns the path below `base` on this machine's file system.
    #[must_use]
    pub fn to_path(&self, base: &std::path::Path) -> std::path::PathBuf {
        let mut path = base.to_path_buf();
        path.extend(self.0.iter().map(Name::as_str));
        path
    }
}

impl FromIterator<Name> for RelPath {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("/")?;
            }
            f.write_str(name.as_str())?;
        }
        Ok(())
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_prints_as_it_was_read() {
        let path = RelPath::parse("a/b c/é").unwrap();
        assert_eq!(path.to_string(), "a/b c/é");
        assert_eq!(path.parent().unwrap().to_string(), "a/b c");
        assert!(path.starts_with(&RelPath::parse("a").unwrap()));
        assert!(RelPath::parse("a/../b").is_err());
        assert!(RelPath::parse("/a").is_err());
    }
}
