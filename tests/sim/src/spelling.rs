//! Names that differ by case alone, in a random run with a disk that takes them for one.

use crate::device::Device;
use crate::random::Seeded;
use crate::world::Tree;
use std::collections::BTreeSet;
use std::path::Path;

/// Few names, of which two each are one on such a disk.
pub(crate) const NAMES: &[&str] = &["a", "A", "b", "B", "e.txt", "E.TXT"];

/// Lets the user of a device spell a name in another way, as a line for the log; `None` if that is not possible.
pub(crate) fn work(
    device: &Device,
    tree: &Tree,
    random: &Seeded,
    is_noticed: bool,
) -> Option<String> {
    let paths: Vec<&String> = tree.keys().collect();
    let from = crate::device::path(random.pick(&paths)?);
    let name = from.file_name()?.to_str()?;
    let other = match name.chars().any(char::is_lowercase) {
        true => name.to_uppercase(),
        false => name.to_lowercase(),
    };
    let to = from.with_file_name(other);
    let user = |path: &Path| {
        device
            .disk
            .user(path, is_noticed, |files| files.rename(&from, &to))
    };
    user(&from).ok()?;
    device.disk.user(&to, is_noticed, |_| Ok(())).ok()?;
    Some(format!(
        "{}: spell {} {}",
        device.name,
        from.display(),
        to.display()
    ))
}

/// Returns whether two names in a folder differ by case alone: a disk that ignores it can have one of them only.
pub(crate) fn has_clash(tree: &Tree) -> bool {
    let folded: BTreeSet<String> = tree.keys().map(|path| path.to_lowercase()).collect();
    folded.len() < tree.len()
}
