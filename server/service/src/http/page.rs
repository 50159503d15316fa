//! `page` and `page_size`, and the envelope that every list comes in.

use crate::error::{Error, Result};
use cairn_wire::Page;

/// Items on a page if the request doesn't say.
pub(crate) const DEFAULT_SIZE: u64 = 20;
/// Items on a page at most.
pub(crate) const MAX_SIZE: u64 = 100;

/// One page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    page: u64,
    size: u64,
    /// The number of the first page.
    first: u64,
}

impl Window {
    /// Reads the two query parameters.
    ///
    /// # Errors
    /// 400 for a page before the first or a size that is out of range.
    pub(crate) fn new(page: Option<u64>, page_size: Option<u64>) -> Result<Self> {
        Self::counting(1, page, page_size)
    }

    /// The same for endpoints whose pages count from 0.
    ///
    /// # Errors
    /// 400 for a size that is out of range.
    pub(crate) fn from_zero(page: Option<u64>, page_size: Option<u64>) -> Result<Self> {
        Self::counting(0, page, page_size)
    }

    fn counting(first: u64, page: Option<u64>, page_size: Option<u64>) -> Result<Self> {
        let (page, size) = (page.unwrap_or(first), page_size.unwrap_or(DEFAULT_SIZE));
        if page < first {
            return Err(Error::invalid("`page` counts from 1"));
        }
        if i64::try_from(page).is_err() {
            return Err(Error::invalid("`page` is too large"));
        }
        if size == 0 || size > MAX_SIZE {
            return Err(Error::invalid(format!(
                "`page_size` is {size}; it has to be 1 to {MAX_SIZE}"
            )));
        }
        Ok(Self { page, size, first })
    }

    pub(crate) fn skip(self) -> u64 {
        // SQLite counts in i64.
        (self.page - self.first)
            .saturating_mul(self.size)
            .min(i64::MAX as u64)
    }

    pub(crate) fn take(self) -> u64 {
        self.size
    }

    /// Puts one page into the envelope.
    pub(crate) fn envelope<T>(self, (content, total): (Vec<T>, u64)) -> Page<T> {
        Page {
            content,
            total_elements: total,
            total_pages: total.div_ceil(self.size),
            page: self.page,
            page_size: self.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_from_one_and_sizes_are_bounded() {
        assert!(Window::new(Some(0), None).is_err());
        assert!(Window::new(None, Some(0)).is_err());
        assert!(Window::new(None, Some(101)).is_err());
        let third = Window::new(Some(3), Some(100)).unwrap();
        assert_eq!((third.skip(), third.take()), (200, 100));
        assert_eq!(third.envelope((vec![1], 201)).total_pages, 3);
        assert_eq!(
            Window::new(Some(i64::MAX as u64), Some(100))
                .unwrap()
                .skip(),
            i64::MAX as u64
        );
        assert!(Window::new(Some(i64::MAX as u64 + 1), None).is_err());
    }
}
