//! The question before the trash is emptied.

use super::Asking;
use crate::call::Call;
use crate::empty_trash::{self, LOOK_TIMEOUT};
use cairn_space::{TrashSizes, TrashedSize};
use cairn_wire::nodes::{ListNodes, NodeState};
use futures_util::FutureExt as _;
use tokio::time::timeout;

/// Asks unless there is nothing to delete.
pub(crate) fn empty_trash(call: &Call) -> Asking<'_> {
    async move {
        let what = match trash(call).await {
            Some(sizes) if sizes.total.items == 0 => return Ok(None),
            Some(sizes) => format!(
                ": delete {} permanently?",
                describe(sizes.total, sizes.is_complete)
            ),
            None => "?".to_owned(),
        };
        let teams = empty_trash::note_of_teams(&call.services).await;
        let teams = teams.map_or_else(String::new, |note| format!("; {note}"));
        Ok(Some(format!(
            "Empty the trash of your own space{what} It can't be undone{teams}."
        )))
    }
    .boxed()
}

fn describe(total: TrashedSize, is_complete: bool) -> String {
    let least = if is_complete { "" } else { "at least " };
    let items = empty_trash::count_items(total.items);
    let bytes = cairn_model::size::binary(total.bytes);
    format!("{least}{items}, {bytes}")
}

/// Returns what is in the trash of the account's own space, with everything that went there along with its folder;
/// `None` if it can't be asked for.
async fn trash(call: &Call) -> Option<TrashSizes> {
    let api = &call.services.reads;
    let query = ListNodes {
        state: Some(NodeState::Trashed),
        page_size: Some(100),
        ..ListNodes::default()
    };
    let listed = timeout(LOOK_TIMEOUT, api.list_nodes(&query)).await;
    let page = listed.ok()?.ok()?;
    let (nodes, count) = (page.content, page.total_elements);
    if count == 0 {
        return Some(TrashSizes::default());
    }
    let sizes = TrashSizes::read(api, &nodes, count);
    let sizes = timeout(LOOK_TIMEOUT, Box::pin(sizes)).await;
    Some(sizes.unwrap_or_else(|_| TrashSizes::least(&nodes, count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_is_not_whole_says_so() {
        let total = TrashedSize {
            items: 5,
            bytes: 1024,
        };
        assert_eq!(describe(total, false), "at least 5 items, 1.0 KiB");
        assert_eq!(describe(total, true), "5 items, 1.0 KiB");
    }
}
