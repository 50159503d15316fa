//! Paged lists of the service, read as one list.

use super::Call;
use crate::error::ToolResult;
use crate::param::SKIP;
use crate::tool::Route;
use serde_json::{Value, json};
use std::ops::Range;

/// The number of items of a page.
const PAGE_SIZE: u64 = 100;

/// The most pages that are read for one list: 2,000 items, far more than fit into a result.
const MAX_PAGES: u64 = 20;

/// The part of a list that a call reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    /// The items that an earlier call has shown: the first ones, or the last ones where the newest are last.
    skip: u64,
    newest_last: bool,
}

impl Call {
    /// Makes the declared request for each page of a list, and joins them, without the items that the call skips. Of a
    /// list that is too long these are the first pages, or the last ones where it ends with the newest.
    pub(crate) async fn all_pages(&self, route: &Route, newest_last: bool) -> ToolResult<Value> {
        let skip = self.arguments.get(SKIP.name).and_then(Value::as_u64);
        let part = Part {
            skip: skip.unwrap_or_default(),
            newest_last,
        };
        let page = async |index: u64| {
            let number = route.first_page + index;
            let more = [
                ("page", number.to_string()),
                ("page_size", PAGE_SIZE.to_string()),
            ];
            let more = more.map(|(name, value)| (name.to_owned(), json!(value)));
            self.rest_with(route, more.into_iter().collect()).await
        };
        let mut joined = page(0).await?;
        let count = joined["totalElements"].as_u64();
        let wanted = part.pages(joined["totalPages"].as_u64(), count);
        let first = wanted.start;
        if first > 0 {
            joined = page(first).await?;
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
        if let Some(items) = joined.get_mut("content").and_then(Value::as_array_mut) {
            part.drop_skipped(items, first, count);
        }
        if let Some(fields) = joined.as_object_mut() {
            fields.retain(|name, _| !["page", "pageSize", "totalPages"].contains(&name.as_str()));
        }
        Ok(joined)
    }
}

impl Part {
    /// Returns the pages to read of `total` pages with `count` items, counted from 0; at least one.
    fn pages(self, total: Option<u64>, count: Option<u64>) -> Range<u64> {
        let total = total.unwrap_or(1).max(1);
        if self.newest_last {
            let left = count.map(|count| count.saturating_sub(self.skip).div_ceil(PAGE_SIZE));
            let end = left.unwrap_or(total).clamp(1, total);
            end.saturating_sub(MAX_PAGES)..end
        } else {
            let first = (self.skip / PAGE_SIZE).min(total - 1);
            first..total.min(first + MAX_PAGES)
        }
    }

    /// Drops the items to skip of a list of `count` items, from those that begin with the page `first`.
    fn drop_skipped(self, items: &mut Vec<Value>, first: u64, count: Option<u64>) {
        let before = first * PAGE_SIZE;
        let to_index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        if !self.newest_last {
            let skipped = to_index(self.skip.saturating_sub(before)).min(items.len());
            items.drain(..skipped);
        } else if self.skip > 0 {
            let count = count.unwrap_or(before + items.len() as u64);
            let kept = count.saturating_sub(self.skip).saturating_sub(before);
            items.truncate(to_index(kept));
        }
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
            let part = Part {
                skip: 0,
                newest_last,
            };
            let count = total.map(|total| total * PAGE_SIZE);
            assert_eq!(part.pages(total, count), pages, "{total:?}");
        }
    }

    #[test]
    fn what_was_shown_is_left_out() {
        let count = 330_u64;
        for (skip, newest_last, pages, shown) in [
            (0, false, 0..4, Some((0, 329))),
            (130, false, 1..4, Some((130, 329))),
            (330, false, 3..4, None),
            (7, true, 0..4, Some((0, 322))),
            (131, true, 0..2, Some((0, 198))),
            (400, true, 0..1, None),
        ] {
            let part = Part { skip, newest_last };
            let read = part.pages(Some(4), Some(count));
            assert_eq!(read, pages, "{part:?}");
            let end = count.min(read.end * PAGE_SIZE);
            let mut items: Vec<Value> = (read.start * PAGE_SIZE..end).map(|n| json!(n)).collect();
            part.drop_skipped(&mut items, read.start, Some(count));
            let ends = items.first().zip(items.last());
            let ends = ends.map(|(first, last)| (first.as_u64().unwrap(), last.as_u64().unwrap()));
            assert_eq!(ends, shown, "{part:?}");
        }
    }
}
