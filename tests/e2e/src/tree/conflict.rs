//! Finds the conflict copies that `CC(path)` of an expected tree stands for.

use super::Tree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Replaces each `CC(path)` by the one conflict copy of that path in the actual tree.
///
/// # Errors
/// There is none, or more than one.
pub(super) fn resolve(expected: &Tree, actual: &Tree) -> Result<Tree, String> {
    let mut known: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut resolved = Tree::default();
    for (path, entry) in &expected.0 {
        resolved
            .0
            .insert(real_path(path, actual, &mut known)?, entry.clone());
    }
    Ok(resolved)
}

/// `CC(d/f)` is read by `Path` as `CC(d` / `f)`: put together again, then look among the siblings.
fn real_path(
    path: &Path,
    actual: &Tree,
    known: &mut BTreeMap<PathBuf, PathBuf>,
) -> Result<PathBuf, String> {
    let text = path.to_string_lossy();
    let Some((inner, rest)) = text
        .strip_prefix("CC(")
        .map(|t| t.split_once(')').unwrap_or((t, "")))
    else {
        return Ok(path.to_owned());
    };
    if !text.contains(')') {
        // A directory implied above `CC(d/f)`: it stands in the tree under its own name.
        return Ok(PathBuf::from(inner));
    }
    let original = PathBuf::from(inner);
    let copy = match known.get(&original) {
        Some(copy) => copy.clone(),
        None => {
            let copy = the_copy(&original, actual)?;
            known.insert(original, copy.clone());
            copy
        }
    };
    let rest = rest.trim_start_matches('/');
    Ok(if rest.is_empty() {
        copy
    } else {
        copy.join(rest)
    })
}

fn the_copy(original: &Path, actual: &Tree) -> Result<PathBuf, String> {
    let copies: Vec<&PathBuf> = actual
        .0
        .keys()
        .filter(|path| is_copy_of(path, original))
        .collect();
    match copies.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(format!("no conflict copy of {}", original.display())),
        many => Err(format!(
            "{} conflict copies of {}: {many:?}",
            many.len(),
            original.display()
        )),
    }
}

/// Returns `true` if a path is a sibling named `stem (conflicted copy *)ext`.
fn is_copy_of(path: &Path, original: &Path) -> bool {
    let (Some(name), Some(of)) = (path.file_name(), original.file_name()) else {
        return false;
    };
    let (name, of) = (name.to_string_lossy(), of.to_string_lossy());
    let (stem, extension) = match of.rfind('.') {
        Some(dot) if dot > 0 => of.split_at(dot),
        _ => (&*of, ""),
    };
    path.parent() == original.parent()
        && name
            .strip_prefix(stem)
            .and_then(|rest| rest.strip_suffix(extension))
            .is_some_and(|mark| mark.starts_with(" (conflicted copy ") && mark.ends_with(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actual_tree(copies: &[&str]) -> Tree {
        let mut tree = Tree::literal("d/f.txt=first");
        for copy in copies {
            tree = tree.with_file(copy, "other");
        }
        tree
    }

    #[test]
    fn one_conflict_copy_matches_and_two_or_none_do_not() {
        let expected = Tree::literal("d/f.txt=first; CC(d/f.txt)=other");
        let one = "d/f (conflicted copy b 2026-01-02 030405).txt";
        let two = "d/f (conflicted copy a 2026-01-02 030405).txt";
        assert_eq!(expected.difference(&actual_tree(&[one])), None);
        assert!(
            expected
                .difference(&actual_tree(&[]))
                .unwrap()
                .contains("no conflict copy")
        );
        assert!(
            expected
                .difference(&actual_tree(&[one, two]))
                .unwrap()
                .contains("2 conflict copies")
        );
        assert!(
            expected
                .difference(&actual_tree(&["f (conflicted copy b).txt"]))
                .is_some()
        );
    }

    #[test]
    fn a_conflict_copy_that_no_one_named_is_surplus() {
        let expected = Tree::literal("d/f.txt=first");
        let found = expected
            .difference(&actual_tree(&["d/f (conflicted copy b 1).txt"]))
            .unwrap();
        assert!(found.contains("surplus"), "{found}");
    }

    #[test]
    fn a_copied_directory_keeps_what_is_in_it() {
        let expected = Tree::literal("B=file; CC(B)/zzz=z");
        let found =
            Tree::literal("B=file").with_file("B (conflicted copy b 2026-01-02 030405)/zzz", "z");
        assert_eq!(expected.difference(&found), None);
    }
}
