//! The temporary names that break a ring of moves, such as two files that swap names.
//!
//! A process may die while something bears one, so the planner knows them again, and the name that
//! was given up is part of them. Whoever scans must see such a node like any other: ignoring it
//! would look like a deletion.

use crate::Trees;
use cairn_model::{Name, NodeId};
use std::collections::BTreeMap;

const PREFIX: &str = ".cairn-detour-";

/// Hexadecimal digits of the node's id between the prefix and the name that was given up.
const MARK: usize = 8;

/// The longest name that can be part of a detour: 255 bytes less the rest.
const ROOM: usize = cairn_model::name::MAX_NAME_BYTES - PREFIX.len() - MARK - 1;

/// Tells whether the name is one that a detour gives for a moment.
#[must_use]
pub fn is_detour(name: &Name) -> bool {
    name.as_str().starts_with(PREFIX)
}

/// The detour of a node that gives up a name; `None` only if the text were no name.
pub(crate) fn detour_name(node: NodeId, given_up: &Name, attempt: u32) -> Option<Name> {
    let mark = node.0.as_fields().0.wrapping_add(attempt);
    let origin = origin(given_up);
    let text = origin.as_ref().unwrap_or(given_up).as_str();
    let mut end = text.len().min(ROOM);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Name::new(format!("{PREFIX}{mark:08x}-{}", &text[..end])).ok()
}

/// The name that was given up for a detour.
fn origin(detour: &Name) -> Option<Name> {
    let rest = detour.as_str().strip_prefix(PREFIX)?;
    let (mark, origin) = rest.split_once('-')?;
    let is_mark = mark.len() == MARK && mark.bytes().all(|b| b.is_ascii_hexdigit());
    Name::new(is_mark.then_some(origin)?).ok()
}

/// All detours in the trees, each with the name that was given up for it.
pub(crate) fn origins(trees: &Trees) -> BTreeMap<Name, Name> {
    let local = trees.local.values().map(|l| &l.name);
    let remote = trees.remote.values().map(|r| &r.name);
    let detours = local.chain(remote).filter(|name| is_detour(name));
    detours
        .filter_map(|name| Some((name.clone(), origin(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_remembers_the_name_that_was_given_up() {
        let node = NodeId::from_random_bytes([7; 16]);
        let name = Name::new("a-b é.txt").unwrap();
        let first = detour_name(node, &name, 0).unwrap();
        let second = detour_name(node, &name, 1).unwrap();
        assert!(is_detour(&first) && is_detour(&second));
        assert_ne!(first, second);
        assert_eq!(origin(&first), Some(name.clone()));
        assert_eq!(detour_name(node, &second, 0), Some(first));
    }

    #[test]
    fn a_long_name_is_shortened_to_fit() {
        let node = NodeId::from_random_bytes([7; 16]);
        let name = Name::new("é".repeat(127)).unwrap();
        let detour = detour_name(node, &name, 0).unwrap();
        assert!(name.as_str().starts_with(origin(&detour).unwrap().as_str()));
    }

    #[test]
    fn what_only_looks_like_a_detour_has_no_origin() {
        for text in [
            ".cairn-detour-1",
            ".cairn-detour-0123456x-a",
            ".cairn-detour-01234567-",
            "a",
        ] {
            assert_eq!(origin(&Name::new(text).unwrap()), None, "{text}");
        }
    }
}
