//! The question before the trash is emptied.

use super::Asking;
use crate::call::Call;
use crate::empty_trash;
use crate::tool::Verb;
use futures_util::FutureExt as _;

/// The number of pages of the trash whose sizes are added up.
const TRASH_PAGES: usize = 10;

/// Asks unless there is nothing to delete.
pub(crate) fn empty_trash(call: &Call) -> Asking<'_> {
    async move {
        let what = match trash(call).await {
            Some((0, _)) => return Ok(None),
            Some((count, size)) => {
                let size = size.map_or_else(String::new, |size| {
                    format!(", {}", cairn_model::size::binary(size))
                });
                let items = empty_trash::count_items(count);
                format!(": delete {items}{size} permanently?")
            }
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

/// Returns the number of items in the trash and their size, if it can be added up in a few requests.
async fn trash(call: &Call) -> Option<(u64, Option<u64>)> {
    let (mut count, mut size) = (0, 0_u64);
    for page in 1..=TRASH_PAGES {
        let query = [
            ("state".to_owned(), "trashed".to_owned()),
            ("page_size".to_owned(), "100".to_owned()),
            ("page".to_owned(), page.to_string()),
        ];
        let list = call.request(Verb::Get, &["nodes"], &query, None).await;
        let list = list.ok()?;
        count = list["totalElements"].as_u64()?;
        let sizes = list["content"].as_array()?.iter();
        size += sizes.filter_map(|node| node["size"].as_u64()).sum::<u64>();
        if count <= (page * 100) as u64 {
            return Some((count, Some(size)));
        }
    }
    Some((count, None))
}
