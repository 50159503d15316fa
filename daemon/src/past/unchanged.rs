//! Files that a restore leaves alone, because they have the wanted content already: an earlier restore made a
//! new version of it.

use crate::failure::CommandResult;
use crate::remote::Remote;
use cairn_model::NodeId;
use cairn_space::past::{Past, Plan};
use futures_util::StreamExt as _;
use std::collections::HashSet;

/// The number of concurrent requests.
const AT_ONCE: usize = 16;

/// Removes the files from a plan that have the content already that it would restore.
pub(super) async fn leave_equal(remote: &Remote, past: &Past, plan: &mut Plan) -> CommandResult {
    let comparing = plan.contents.iter().filter_map(|content| {
        let one = past.get(content.node)?;
        // Only what is as long can be equal.
        let may_be_equal = one.is_active() && one.node.size == content.revision.size;
        may_be_equal.then_some(async move {
            let equal = remote
                .space
                .has_content_of(&one.node, &content.revision)
                .await;
            equal.map(|equal| equal.then_some(content.node))
        })
    });
    let mut equal: HashSet<NodeId> = HashSet::new();
    let mut compared = futures_util::stream::iter(comparing).buffer_unordered(AT_ONCE);
    while let Some(found) = compared.next().await {
        equal.extend(found?);
    }
    drop(compared);
    plan.contents
        .retain(|content| !equal.contains(&content.node));
    Ok(())
}
