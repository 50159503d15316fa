//! The temporary names that break a cycle of moves, such as two files that swap names.
//!
//! A process may die while a node has one, so the planner recognises them, and the original name is
//! part of them. A scan must report such a node like any other: ignoring it would look like a
//! deletion.

use crate::name::MAX_NAME_BYTES;
use crate::{Name, NodeId};

const PREFIX: &str = ".cairn-detour-";

/// Hexadecimal digits of the node's id between the prefix and the original name.
const MARK: usize = 8;

/// The longest original name that fits, in bytes: 255 less the rest.
const ROOM: usize = MAX_NAME_BYTES - PREFIX.len() - MARK - 1;

/// Returns whether the name is a temporary one, which a step of a cycle of moves gives.
#[must_use]
pub fn is_temporary_name(name: &Name) -> bool {
    is_temporary_text(name.as_str())
}

/// Returns whether a text is a temporary name, or begins as one.
#[must_use]
pub fn is_temporary_text(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Makes the temporary name of a node, another one with each attempt; `None` only if the text were no valid name.
#[must_use]
pub fn temporary_name(node: NodeId, name: &Name, attempt: u32) -> Option<Name> {
    let mark = node.0.as_fields().0.wrapping_add(attempt);
    let original_name = original_name(name);
    let text = original_name.as_ref().unwrap_or(name).as_str();
    let mut end = text.len().min(ROOM);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Name::new(format!("{PREFIX}{mark:08x}-{}", &text[..end])).ok()
}

/// Returns the original name in a temporary one; `None` for any other name.
#[must_use]
pub fn original_name(temporary: &Name) -> Option<Name> {
    let rest = temporary.as_str().strip_prefix(PREFIX)?;
    let (mark, original_name) = rest.split_once('-')?;
    let is_mark = mark.len() == MARK && mark.bytes().all(|b| b.is_ascii_hexdigit());
    Name::new(is_mark.then_some(original_name)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_contains_the_original_one() {
        let node = NodeId::from_random_bytes([7; 16]);
        let name = Name::new("a-b é.txt").unwrap();
        let first = temporary_name(node, &name, 0).unwrap();
        let second = temporary_name(node, &name, 1).unwrap();
        assert!(is_temporary_name(&first) && is_temporary_name(&second));
        assert_ne!(first, second);
        assert_eq!(original_name(&first), Some(name.clone()));
        assert_eq!(temporary_name(node, &second, 0), Some(first));
    }

    #[test]
    fn a_long_name_is_shortened_to_fit() {
        let node = NodeId::from_random_bytes([7; 16]);
        let name = Name::new("é".repeat(127)).unwrap();
        let temporary = temporary_name(node, &name, 0).unwrap();
        assert!(
            name.as_str()
                .starts_with(original_name(&temporary).unwrap().as_str())
        );
    }

    #[test]
    fn what_only_looks_like_a_temporary_name_has_no_original_name() {
        for text in [
            ".cairn-detour-1",
            ".cairn-detour-0123456x-a",
            ".cairn-detour-01234567-",
            "a",
        ] {
            assert_eq!(original_name(&Name::new(text).unwrap()), None, "{text}");
        }
    }
}
