//! The bounds of everything that is read page by page. A server that lies could go on for ever: with pages that lead
//! in a circle, that bring nothing, or that never end.

use crate::error::ApiError;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The largest number of items in a page: what the service gives at most.
const PAGE: usize = 1_000;
/// The largest number of pages, of which an honest service fills nearly all.
const PAGES: usize = 100_000;

/// The progress of a list that is read page by page. A list that can't be an honest service's ends with an error.
#[derive(Debug)]
pub struct Paging {
    most: u64,
    items: u64,
    /// The positions of the pages that were asked for, as hashes.
    asked: HashSet<u64>,
    last: Option<u64>,
}

impl Default for Paging {
    fn default() -> Self {
        Self::up_to(Self::NODES)
    }
}

impl Paging {
    /// The largest number of files and folders of a space.
    pub const NODES: u64 = 10_000_000;
    /// The largest number of items that are kept in memory together.
    pub const IN_MEMORY: u64 = 2_000_000;

    /// Begins a list of at most this many items.
    #[must_use]
    pub fn up_to(most: u64) -> Self {
        Self {
            most,
            items: 0,
            asked: HashSet::new(),
            last: None,
        }
    }

    /// Notes from where a list is read on. That goes on with the pages before if the last of them led there, and
    /// begins a new list otherwise.
    pub fn begin_at(&mut self, position: &str) {
        let position = hash_of(position);
        if self.last == Some(position) {
            return;
        }
        *self = Self::up_to(self.most);
        self.asked.insert(position);
        self.last = Some(position);
    }

    /// Notes a page with this many items, and the position of the next one, if there is one.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] for a page that is too long, a list that is, and one that doesn't move on. The page is
    /// not to be used then.
    pub fn advance(&mut self, items: usize, next: Option<&str>) -> Result<(), ApiError> {
        if items > PAGE {
            return Err(protocol(format!(
                "a page of a list has more than {PAGE} items"
            )));
        }
        let Some(next) = next else {
            *self = Self::up_to(self.most);
            return Ok(());
        };
        let next = hash_of(next);
        if items == 0 || self.asked.contains(&next) {
            return Err(protocol("a list does not move on".to_owned()));
        }
        let total = self.items.saturating_add(items as u64);
        if total > self.most || self.asked.len() >= PAGES {
            let most = self.most;
            return Err(protocol(format!(
                "a list does not end: it has more than {most} items, or {PAGES} pages"
            )));
        }
        self.items = total;
        self.asked.insert(next);
        self.last = Some(next);
        Ok(())
    }
}

fn protocol(message: String) -> ApiError {
    ApiError::Protocol(message)
}

fn hash_of(position: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    position.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_honest_list_is_read_to_its_end() {
        let mut paging = Paging::default();
        for page in 0..Paging::NODES / PAGE as u64 {
            paging.advance(PAGE, Some(&page.to_string())).unwrap();
        }
        paging.advance(0, None).unwrap();
        paging.advance(1, Some("1")).unwrap();
    }

    #[test]
    fn a_list_that_never_ends_ends() {
        for (most, items, pages) in [
            (5_000, PAGE, 5),
            (Paging::NODES, PAGE, 10_000),
            (Paging::NODES, 1, PAGES),
        ] {
            let mut paging = Paging::up_to(most);
            let read = (0..).take_while(|page: &usize| {
                let next = page.to_string();
                paging.advance(items, Some(&next)).is_ok()
            });
            assert_eq!(read.count(), pages, "{most} items, {items} a page");
        }
    }

    #[test]
    fn pages_that_can_not_be_are_refused() {
        for (items, next) in [
            (PAGE + 1, Some("d")),
            (PAGE + 1, None),
            (0, Some("d")),
            (1, Some("c")),
            (1, Some("b")),
            (1, Some("a")),
        ] {
            let mut paging = Paging::default();
            paging.begin_at("a");
            paging.advance(1, Some("b")).unwrap();
            paging.advance(1, Some("c")).unwrap();
            let refused = paging.advance(items, next);
            assert!(refused.is_err(), "{items} items, then {next:?}");
        }
    }

    #[test]
    fn a_list_that_leads_in_a_circle_is_refused_again_where_it_is_read_on() {
        let mut paging = Paging::default();
        paging.begin_at("a");
        paging.advance(1, Some("b")).unwrap();
        for _ in 0..2 {
            paging.begin_at("b");
            paging.advance(1, Some("a")).unwrap_err();
        }
        // A page that could not be kept is asked for again.
        paging.begin_at("a");
        paging.advance(1, Some("b")).unwrap();
        paging.advance(0, None).unwrap();
    }
}
