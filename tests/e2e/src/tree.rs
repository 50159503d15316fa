//! A folder's content as a value, the short text that describes an expected one, and their difference.
//!
//! A literal is a list separated by `;`: `path=text` is a file, `path/` a directory; parents are
//! implied. `CC(path)` stands for exactly one conflict copy of that path, itself a file or a directory.

mod conflict;
mod literal;

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Names at a folder's root that belong to the product and never sync.
const PRIVATE: [&str; 2] = [".cairn-trash", ".cairn-tmp"];
/// Longest text that is shown in a difference.
const SHOWN: usize = 60;

/// One thing in a folder.
#[derive(Clone, PartialEq, Eq)]
pub enum Entry {
    Dir,
    File(Content),
    Symlink(PathBuf),
    /// A socket, a pipe or a device.
    Other,
}

/// A file's bytes: their number and hash, and the first of them for people.
#[derive(Clone)]
pub struct Content {
    pub size: u64,
    hash: blake3::Hash,
    head: String,
}

/// Paths relative to the root, with what is there; without the product's private directories.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Tree(pub BTreeMap<PathBuf, Entry>);

/// The properties that a rewrite of a path would change: inode, modification time in nanoseconds, permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub inode: u64,
    pub modified: i128,
    pub mode: u32,
}

impl Tree {
    /// Reads a folder.
    ///
    /// # Errors
    /// Something in it can't be read.
    pub fn of(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        walk(root, Path::new(""), &mut |path, at, meta| {
            let kind = meta.file_type();
            let entry = if kind.is_dir() {
                Entry::Dir
            } else if kind.is_file() {
                Entry::File(Content::of_file(at)?)
            } else if kind.is_symlink() {
                Entry::Symlink(fs::read_link(at)?)
            } else {
                Entry::Other
            };
            tree.0.insert(path.to_owned(), entry);
            Ok(())
        })?;
        Ok(tree)
    }

    /// Reads only what a rewrite would change.
    ///
    /// # Errors
    /// As [`Tree::of`].
    pub fn stamps(root: &Path) -> Result<BTreeMap<PathBuf, Stamp>> {
        let mut stamps = BTreeMap::new();
        walk(root, Path::new(""), &mut |path, _, meta| {
            let modified = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
            let stamp = Stamp {
                inode: meta.ino(),
                modified,
                mode: meta.mode(),
            };
            stamps.insert(path.to_owned(), stamp);
            Ok(())
        })?;
        Ok(stamps)
    }

    /// The content of a file.
    #[must_use]
    pub fn file(&self, path: impl AsRef<Path>) -> Option<&Content> {
        match self.0.get(path.as_ref()) {
            Some(Entry::File(content)) => Some(content),
            Some(Entry::Dir | Entry::Symlink(_) | Entry::Other) | None => None,
        }
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = (&PathBuf, &Content)> {
        self.0.iter().filter_map(|(path, entry)| match entry {
            Entry::File(content) => Some((path, content)),
            Entry::Dir | Entry::Symlink(_) | Entry::Other => None,
        })
    }

    /// Returns the number of files that have exactly this content.
    #[must_use]
    pub fn count_of(&self, content: &[u8]) -> usize {
        let wanted = Content::new(content);
        self.files()
            .filter(|(_, content)| **content == wanted)
            .count()
    }

    /// The names that this expected tree and an actual one disagree in; nothing if they are equal.
    /// `CC(…)` in the expected one matches exactly one conflict copy.
    #[must_use]
    pub fn difference(&self, actual: &Self) -> Option<String> {
        let wanted = match conflict::resolve(self, actual) {
            Ok(wanted) => wanted,
            Err(reason) => return Some(format!("  {reason}\n  actual:\n{actual}")),
        };
        let mut lines = Vec::new();
        for (path, entry) in &wanted.0 {
            match actual.0.get(path) {
                None => lines.push(format!("  missing  {} {entry:?}", path.display())),
                Some(there) if there != entry => {
                    lines.push(format!(
                        "  differs  {} expected {entry:?}, found {there:?}",
                        path.display()
                    ));
                }
                Some(_) => {}
            }
        }
        for (path, entry) in &actual.0 {
            if !wanted.0.contains_key(path) {
                lines.push(format!("  surplus  {} {entry:?}", path.display()));
            }
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

impl Content {
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
        Self {
            size: bytes.len() as u64,
            hash: blake3::hash(bytes),
            head,
        }
    }

    fn of_file(path: &Path) -> Result<Self> {
        let mut file =
            fs::File::open(path).with_context(|| format!("{} can't be opened", path.display()))?;
        let size = file.metadata()?.len();
        if size <= 1 << 20 {
            return Ok(Self::new(&fs::read(path)?));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut file)?;
        Ok(Self {
            size,
            hash: hasher.finalize(),
            head: String::from("…"),
        })
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.hash == other.hash
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.size as usize <= SHOWN {
            write!(f, "{:?}", self.head)
        } else {
            write!(f, "({} bytes, {})", self.size, &self.hash.to_hex()[..8])
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dir => f.write_str("(directory)"),
            Self::File(content) => write!(f, "{content:?}"),
            Self::Symlink(target) => write!(f, "(link to {})", target.display()),
            Self::Other => f.write_str("(special file)"),
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 40;
        for (path, entry) in self.0.iter().take(MOST) {
            writeln!(f, "    {} {entry:?}", path.display())?;
        }
        if self.0.len() > MOST {
            writeln!(f, "    … and {} more", self.0.len() - MOST)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

type Visit<'a> = dyn FnMut(&Path, &Path, &fs::Metadata) -> Result<()> + 'a;

fn walk(root: &Path, inside: &Path, visit: &mut Visit<'_>) -> Result<()> {
    let dir = root.join(inside);
    for entry in fs::read_dir(&dir).with_context(|| format!("{} can't be listed", dir.display()))? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        if PRIVATE.iter().any(|private| path == Path::new(private)) {
            continue;
        }
        let at = entry.path();
        let meta = fs::symlink_metadata(&at)?;
        visit(&path, &at, &meta)?;
        if meta.is_dir() {
            walk(root, &path, visit)?;
        }
    }
    Ok(())
}

/// Files left in the product's directory for temporary files.
///
/// # Errors
/// It is there and can't be read.
pub fn leftovers(root: &Path) -> Result<Vec<PathBuf>> {
    let dir = root.join(".cairn-tmp");
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let mut left = Vec::new();
    walk(&dir, Path::new(""), &mut |path, _, meta| {
        if !meta.is_dir() {
            left.push(path.to_owned());
        }
        Ok(())
    })?;
    Ok(left)
}

/// All contents that a folder's local trash holds.
///
/// # Errors
/// It is there and can't be read.
pub fn trash(root: &Path) -> Result<Tree> {
    let dir = root.join(".cairn-trash");
    if dir.exists() {
        Tree::of(&dir)
    } else {
        Ok(Tree::default())
    }
}
