//! The latest pages of the change feed that streams have read: when one change wakes thousands of them, one reads, and
//! the others take what it has read.

use crate::error::Result;
use cairn_model::Cursor;
use cairn_wire::changes::FeedMoved;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Pages at most, of some hundred KiB each. Those that fall on the same place take turns, and are read more often.
const PAGES: usize = 32;

/// A page as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    /// The row of the space.
    pub(crate) space: i64,
    /// The position that the stream has reached.
    pub(crate) from: Cursor,
    /// Only the new position is wanted.
    pub(crate) bare: bool,
}

/// The news of a page, and their JSON.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) cursor: Cursor,
    pub(crate) json: String,
}

impl News {
    /// Writes news down.
    ///
    /// # Errors
    /// A value that is no JSON, which these are.
    pub(crate) fn new(moved: &FeedMoved) -> serde_json::Result<Self> {
        Ok(Self {
            cursor: moved.cursor.clone(),
            json: serde_json::to_string(moved)?,
        })
    }
}

struct Page {
    asked: Asked,
    /// The report of a change after which it was read.
    report: u64,
    news: Option<Arc<News>>,
}

/// The latest pages.
pub(crate) struct SharedPages([Mutex<Option<Page>>; PAGES]);

impl Default for SharedPages {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Asked {
    /// Returns the place of the page. Not that of the space: a stream that has its news asks for the next page at once,
    /// while others still want the one before.
    fn place(&self) -> usize {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        usize::try_from(hasher.finish() % PAGES as u64).unwrap_or_default()
    }
}

impl SharedPages {
    /// Returns a page that was read after a report of a change: the one that another stream has read, or what `read`
    /// returns. Without a report it is read anew.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) async fn read(
        &self,
        asked: Asked,
        report: Option<u64>,
        read: impl FnOnce() -> Result<Option<News>>,
    ) -> Result<Option<Arc<News>>> {
        let mut page = self.0[asked.place()].lock().await;
        if let Some(known) = page.as_ref()
            && known.asked == asked
            && report.is_some_and(|report| report <= known.report)
        {
            return Ok(known.news.clone());
        }
        let news = read()?.map(Arc::new);
        if let Some(report) = report {
            *page = Some(Page {
                asked,
                report,
                news: news.clone(),
            });
        }
        Ok(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(space: i64) -> Asked {
        Asked {
            space,
            from: Cursor("1".to_owned()),
            bare: false,
        }
    }

    fn news(text: &str) -> Result<Option<News>> {
        Ok(Some(News {
            cursor: Cursor("2".to_owned()),
            json: text.to_owned(),
        }))
    }

    async fn read(pages: &SharedPages, asked: Asked, report: Option<u64>, text: &str) -> String {
        let read = pages.read(asked, report, || news(text)).await.unwrap();
        read.unwrap().json.clone()
    }

    #[tokio::test]
    async fn a_page_is_read_once_for_a_report_and_again_for_a_later_one() {
        let pages = SharedPages::default();
        assert_eq!(read(&pages, asked(1), Some(3), "first").await, "first");
        assert_eq!(read(&pages, asked(1), Some(3), "second").await, "first");
        assert_eq!(read(&pages, asked(1), Some(2), "third").await, "first");
        assert_eq!(read(&pages, asked(1), Some(4), "fourth").await, "fourth");
    }

    #[tokio::test]
    async fn streams_that_have_their_news_take_nothing_from_those_that_still_wait() {
        let pages = SharedPages::default();
        let mut reads = 0;
        let next = Asked {
            from: Cursor("2".to_owned()),
            ..asked(1)
        };
        assert_ne!(next.place(), asked(1).place(), "choose another position");
        for _ in 0..100 {
            for (asked, text) in [(asked(1), Some("news")), (next.clone(), None)] {
                let read = pages.read(asked, Some(1), || {
                    reads += 1;
                    text.map_or(Ok(None), news)
                });
                assert_eq!(read.await.unwrap().map(|n| n.json.clone()).as_deref(), text);
            }
        }
        assert_eq!(reads, 2);
    }

    #[tokio::test]
    async fn nothing_is_taken_from_another_space_position_or_time() {
        let pages = SharedPages::default();
        let other_place = Asked {
            from: Cursor("2".to_owned()),
            ..asked(1)
        };
        let bare = Asked {
            bare: true,
            ..asked(1)
        };
        let same_place = (2..)
            .map(asked)
            .find(|other| other.place() == asked(1).place());
        for other in [asked(2), same_place.unwrap(), other_place, bare] {
            read(&pages, asked(1), Some(1), "first").await;
            assert_eq!(read(&pages, other, Some(1), "other").await, "other");
        }
        read(&pages, asked(1), Some(1), "first").await;
        assert_eq!(read(&pages, asked(1), None, "anew").await, "anew");
    }

    #[tokio::test]
    async fn an_error_is_not_kept() {
        let pages = SharedPages::default();
        let failed = pages.read(asked(1), Some(1), || {
            Err(crate::error::Error::internal("no database".to_owned()))
        });
        assert!(failed.await.is_err());
        assert_eq!(read(&pages, asked(1), Some(1), "read").await, "read");
    }
}
