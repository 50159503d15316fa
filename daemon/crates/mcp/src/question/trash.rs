//! The question before the trash is emptied.

use super::Asking;
use crate::call::Call;
use crate::empty_trash::{self, LOOK_TIMEOUT};
use cairn_space::{TrashSizes, TrashedSize};
use cairn_wire::nodes::Node;
use futures_util::FutureExt as _;
use tokio::time::timeout;

/// Asks unless there is nothing to delete.
pub(crate) fn empty_trash(call: &Call) -> Asking<'_> {
    async move {
        let listed = trash(call).await;
        if let Some((_, nodes)) = &listed {
            empty_trash::note_seen(&call.subject, nodes);
        }
        let what = match listed.map(|(sizes, _)| sizes) {
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

/// Returns what was put into the trash of the account's own space, and the size of it with everything that went there
/// along with its folder; `None` if it can't be asked for.
async fn trash(call: &Call) -> Option<(TrashSizes, Vec<Node>)> {
    let api = &call.services.reads;
    let nodes = timeout(LOOK_TIMEOUT, api.trash()).await.ok()?.ok()?;
    let count = nodes.len() as u64;
    if count == 0 {
        return Some((TrashSizes::default(), nodes));
    }
    let sizes = TrashSizes::read(api, &nodes, count);
    let sizes = timeout(LOOK_TIMEOUT, Box::pin(sizes)).await;
    let sizes = sizes.unwrap_or_else(|_| TrashSizes::least(&nodes, count));
    Some((sizes, nodes))
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
