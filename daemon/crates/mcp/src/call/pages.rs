//! Paged lists of the service, read as one list.

use super::Call;
use crate::error::ToolResult;
use crate::tool::Route;
use serde_json::{Value, json};
use std::ops::Range;

/// The most pages that are read for one list: 2,000 items, far more than fit into a result.
const MAX_PAGES: u64 = 20;

impl Call {
    /// Makes the declared request for each page of a list, and joins them. Of a list that is too long these are the
    /// first pages, or the last ones where it ends with the newest.
    pub(crate) async fn all_pages(&self, route: &Route, newest_last: bool) -> ToolResult<Value> {
        let page = async |index: u64| {
            let number = route.first_page + index;
            let more = [("page", number.to_string()), ("page_size", "100".into())];
            let more = more.map(|(name, value)| (name.to_owned(), json!(value)));
            self.rest_with(route, more.into_iter().collect()).await
        };
        let mut joined = page(0).await?;
        let wanted = pages_to_read(joined["totalPages"].as_u64(), newest_last);
        if wanted.start > 0 {
            joined = page(wanted.start).await?;
        }
        for index in wanted.skip(1) {
            let mut next = page(index).await?;
            let (Some(all), Some(items)) = (
                joined["content"].as_array_mut(),
                next["content"].as_array_mut(),
            ) else {
                break;
            };
            all.append(items);
        }
        if let Some(fields) = joined.as_object_mut() {
            fields.retain(|name, _| !["page", "pageSize", "totalPages"].contains(&name.as_str()));
        }
        Ok(joined)
    }
}

/// Returns the pages to read of `total` pages, counted from 0; at least one.
fn pages_to_read(total: Option<u64>, newest_last: bool) -> Range<u64> {
    let total = total.unwrap_or(1).max(1);
    if newest_last {
        total.saturating_sub(MAX_PAGES)..total
    } else {
        0..total.min(MAX_PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_with_the_newest_are_read() {
        for (total, newest_last, pages) in [
            (None, false, 0..1),
            (Some(0), true, 0..1),
            (Some(3), false, 0..3),
            (Some(3), true, 0..3),
            (Some(50), false, 0..20),
            (Some(50), true, 30..50),
        ] {
            assert_eq!(pages_to_read(total, newest_last), pages, "{total:?}");
        }
    }
}
