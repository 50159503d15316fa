//! Names of the elements of a space's state: its nodes (files and folders), and its chains of control statements.

use crate::control::{Chain, Control, ControlBody};
use crate::statement::Statement;
use cairn_model::NodeId;

/// The name of an element of a space's state: a node, or a chain of control statements. Nodes and each class of
/// chains have names of their own, so that none of them can take the place of another. Sorted as a snapshot
/// has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementName {
    pub id: [u8; 16],
    /// 0 for a node; for a chain the least kind of its statements.
    pub class: u8,
}

impl ElementName {
    /// Returns the name of a node.
    #[must_use]
    pub fn node(node: NodeId) -> Self {
        Self {
            id: *node.as_bytes(),
            class: 0,
        }
    }

    /// Returns the name of the chain that a body stands in.
    #[must_use]
    pub fn chain(chain: &Chain, body: &ControlBody) -> Self {
        Self {
            id: *chain,
            class: body.class(),
        }
    }

    pub(crate) fn of_control(control: &Control) -> Self {
        Self::chain(&control.chain, &control.body)
    }

    /// Returns the name of what a statement is about.
    #[must_use]
    pub fn of(statement: &Statement) -> Self {
        match statement {
            Statement::Node(node) => Self::node(node.node),
            Statement::Control(control) => Self::of_control(control),
        }
    }
}
