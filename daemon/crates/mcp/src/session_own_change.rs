//! Recognizes the changes that a call of this session can have made, for calls whose result nobody got: changes of
//! others are not this session's to take back.

use crate::services::Services;
use crate::session_call_time::CallTime;
use cairn_model::NodeId;
use cairn_wire::nodes::Node;

/// The versions that one call adds to a node: a restored one is sealed in a second step.
const VERSIONS_OF_A_CALL: u64 = 2;

/// The place that a call gives to a node, as far as it names one.
pub(crate) struct Wanted {
    pub(crate) name: Option<String>,
    pub(crate) parent: Option<NodeId>,
}

impl Wanted {
    /// Returns false for a place that the call can't have given to the node. The top of a space has no id.
    fn may_be(&self, now: &Node) -> bool {
        self.name.as_ref().is_none_or(|name| *name == now.name)
            && (now.parent_id.is_none() || self.parent.is_none_or(|of| now.parent_id == Some(of)))
    }

    /// Returns true for a node that a call of this device can have led from one state to the other at this time.
    pub(crate) fn may_have_led(
        &self,
        services: &Services,
        before: &Node,
        now: &Node,
        time: CallTime,
    ) -> bool {
        let versions = now.version.saturating_sub(before.version);
        is_by_this_device(services, now)
            && time.may_include(now.updated_at)
            && (1..=VERSIONS_OF_A_CALL).contains(&versions)
            && self.may_be(now)
    }
}

/// Returns true for a node whose last change is one of this device, whose requests always name it.
pub(crate) fn is_by_this_device(services: &Services, node: &Node) -> bool {
    node.device_id == Some(services.reads.device())
}
