//! Ids that lie near one another, for what a device makes one after the other.
//!
//! Index and service keep their rows in the order of ids. With random ones, each new file has a page of the database
//! for itself, which is read, written and copied into the log; the rows of a series share theirs.

use uuid::{Builder, Uuid};

/// Ids before the next series begins: as many as fit into 20 bits.
const LENGTH: u32 = 1 << 20;
/// Random bytes at the beginning, which the ids of a series share.
const SHARED: usize = 5;

/// Draws ids that rise (UUID v8): 40 random bits of the series, a number of 20 bits, and 62 random bits.
///
/// Two devices draw the same id no sooner than with 62 random bits alone, and an id tells no time.
#[derive(Debug, Default)]
pub struct IdSeries {
    shared: [u8; SHARED],
    /// The number of the next id; a new series begins at 0.
    next: u32,
}

impl IdSeries {
    /// Returns a series that has yet to begin.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            shared: [0; SHARED],
            next: 0,
        }
    }

    /// Returns the next id. `random` returns 16 fresh random bytes.
    pub fn draw(&mut self, mut random: impl FnMut() -> [u8; 16]) -> Uuid {
        if self.next == 0 {
            self.shared.copy_from_slice(&random()[..SHARED]);
        }
        let [_, high, middle, low] = self.next.to_be_bytes();
        self.next = (self.next + 1) % LENGTH;
        let mut bytes = random();
        bytes[..SHARED].copy_from_slice(&self.shared);
        // The number lies around the four bits of the version, and the variant comes behind it.
        bytes[SHARED] = high << 4 | middle >> 4;
        bytes[SHARED + 1] = middle & 0x0f;
        bytes[SHARED + 2] = low;
        Builder::from_custom_bytes(bytes).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random bytes that differ each time.
    fn bytes() -> impl FnMut() -> [u8; 16] {
        let mut drawn = 0_u8;
        move || {
            drawn = drawn.wrapping_mul(37).wrapping_add(11);
            [drawn; 16]
        }
    }

    #[test]
    fn the_ids_of_a_series_rise() {
        let (mut series, mut random) = (IdSeries::new(), bytes());
        let mut last = series.draw(&mut random);
        assert_eq!(last.get_version_num(), 8);
        assert_eq!(last.get_variant(), uuid::Variant::RFC4122);
        for _ in 1..LENGTH {
            let next = series.draw(&mut random);
            assert!(next > last, "{last} {next}");
            last = next;
        }
    }

    #[test]
    fn another_series_begins_elsewhere() {
        let (mut series, mut random) = (IdSeries::new(), bytes());
        let first = series.draw(&mut random);
        let same = |id: Uuid| id.as_bytes()[..SHARED] == first.as_bytes()[..SHARED];
        series.next = LENGTH - 1;
        assert!(same(series.draw(&mut random)));
        assert!(!same(series.draw(&mut random)));
        let mut other = IdSeries::new();
        assert!(!same(other.draw(&mut random)));
    }
}
