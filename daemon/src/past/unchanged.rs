//! Files that a restore leaves alone, because they have the wanted content already: an earlier restore made a
//! new version of it.

use crate::remote::Remote;
use cairn_space::past::{Past, Plan};

/// Removes the files from a plan that have the content already that it would restore.
pub(super) async fn leave_equal(remote: &Remote, past: &Past, plan: &mut Plan) {
    let may_be_equal = plan.contents.iter().filter_map(|content| {
        let one = past.get(content.node)?;
        // Only what is as long can be equal.
        let is_as_long = one.is_active() && one.node.size == content.revision.size;
        is_as_long.then(|| (one.node.clone(), content.revision.clone()))
    });
    let equal = remote.space.with_equal_content(may_be_equal.collect());
    let equal = equal.await;
    plan.contents
        .retain(|content| !equal.contains(&content.node));
}
