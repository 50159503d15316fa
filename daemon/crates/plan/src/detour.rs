//! The temporary names that break a ring of moves, such as two files that swap names.
//!
//! A process may die while something bears one, so the planner knows them again. Whoever scans
//! must see such a node like any other: ignoring it would look like a deletion.

use cairn_model::{Name, NodeId};

const PREFIX: &str = ".cairn-detour-";

/// Tells whether the name is one that a detour gives for a moment.
#[must_use]
pub fn is_detour(name: &Name) -> bool {
    name.as_str().starts_with(PREFIX)
}

/// The detour of a node; its id makes it unique. `None` only if the text were no name.
pub(crate) fn detour_name(node: NodeId, attempt: u32) -> Option<Name> {
    let id = node.0.simple();
    let text = if attempt == 0 {
        format!("{PREFIX}{id}")
    } else {
        format!("{PREFIX}{id}-{attempt}")
    };
    Name::new(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_is_known_again() {
        let node = NodeId::from_random_bytes([7; 16]);
        let first = detour_name(node, 0).unwrap();
        let second = detour_name(node, 1).unwrap();
        assert!(is_detour(&first) && is_detour(&second));
        assert_ne!(first, second);
        assert!(!is_detour(&Name::new("cairn-detour-1").unwrap()));
    }
}
