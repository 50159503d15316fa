//! Changes whose responses may be lost: whether they were carried out, as far as the service can tell afterwards.

use crate::call::Call;
use crate::client::Api;
use crate::error::{ApiError, CallFailure};
use cairn_model::DeviceId;
use cairn_wire::nodes::{Node, UpdateNode};

impl Api {
    /// Sends a deletion, again if its response is lost: that nothing is there then is what was wanted.
    pub(crate) async fn delete(&self, call: Call) -> Result<(), ApiError> {
        match Box::pin(self.exchange(call.mark_idempotent())).await {
            Ok(_)
            | Err(CallFailure {
                error: ApiError::NotFound { .. } | ApiError::Gone { .. },
                may_be_done: true,
            }) => Ok(()),
            Err(failure) => Err(failure.error),
        }
    }

    /// Sends a change of a node that has this version. It isn't sent twice, as the second would find the version that
    /// the first has made: if the response is lost, the node tells whether the change was made.
    pub(crate) async fn update_version(
        &self,
        call: Call,
        version: u64,
        change: &UpdateNode,
    ) -> Result<Node, ApiError> {
        let path = call.path.clone();
        // In boxes: a tool of an assistant holds many of these futures at once, on one stack.
        let failure = match Box::pin(self.exchange(call.if_match(version)?)).await {
            Ok(body) => match serde_json::from_slice::<Node>(&body) {
                Ok(mut node) => {
                    self.open_names(&mut node);
                    return Ok(node);
                }
                Err(e) => CallFailure {
                    error: ApiError::Protocol(format!("PUT {path}: {e}")),
                    may_be_done: true,
                },
            },
            Err(failure) => failure,
        };
        if failure.may_be_done
            && let Ok(node) = Box::pin(self.json_with_names::<Node>(Call::get(path))).await
            && is_made_of(&node, version, change, self.device())
        {
            return Ok(node);
        }
        Err(failure.error)
    }
}

/// Returns whether a node is as a change of this device has made it from a version.
fn is_made_of(node: &Node, version: u64, change: &UpdateNode, device: DeviceId) -> bool {
    let UpdateNode {
        name,
        parent_id,
        executable,
        description,
        labels,
        tags,
        favorite,
        seal,
    } = change;
    // One version later there is room for one change alone; another device may have made the same one.
    version.checked_add(1) == Some(node.version)
        && node.device_id.is_none_or(|by| by == device)
        && is_or_unasked(name.as_ref(), &node.name)
        && parent_id.is_none_or(|parent| parent == node.parent_id)
        && executable.is_none_or(|executable| executable == node.executable)
        && is_or_unasked(description.as_ref(), &node.description)
        && is_or_unasked(labels.as_ref(), &node.labels)
        && is_or_unasked(tags.as_ref(), &node.tags)
        && favorite.is_none_or(|favorite| favorite == node.favorite)
        && (seal.is_none() || *seal == node.seal)
}

fn is_or_unasked<T: PartialEq>(asked: Option<&T>, is: &T) -> bool {
    asked.is_none_or(|asked| asked == is)
}
