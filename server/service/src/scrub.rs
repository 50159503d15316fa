//! The check of all that is stored (scrub): reads every object once in a number of days, a part of them at a time.

use crate::error::Result;
use crate::stored::StoredChunks;
use cairn_store::ScrubPosition;

const MS_PER_DAY: i64 = 86_400_000;
/// Objects that the database is asked for at once.
const OBJECTS: u32 = 100;
/// Bytes that are read at most at a time: after a week without the server, it does not read for an hour.
const MOST: u64 = 1 << 30;

/// The pace of the check.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Bytes of all that is stored.
    stored: u64,
    /// Days in which all of it is read.
    days: u32,
}

impl Pace {
    fn whole_ms(self) -> i128 {
        i128::from(self.days.max(1)) * i128::from(MS_PER_DAY)
    }

    /// Returns the bytes that are to be read after some time.
    fn bytes(self, elapsed_ms: i64) -> u64 {
        let part = i128::from(self.stored) * i128::from(elapsed_ms.max(0)) / self.whole_ms();
        u64::try_from(part).unwrap_or(MOST).min(MOST)
    }

    /// Returns the time for which so many bytes are to be read, in ms.
    fn time(self, bytes: u64) -> i64 {
        let part = i128::from(bytes) * self.whole_ms() / i128::from(self.stored.max(1));
        i64::try_from(part).unwrap_or(0)
    }
}

/// Goes on with the check at a time, in ms since 1970.
///
/// # Errors
/// A database or an object store that fails.
pub(crate) async fn go_on(chunks: StoredChunks<'_>, days: u32, now: i64) -> Result<()> {
    let store = chunks.store;
    let Some(position) = store.scrub_position()? else {
        store.set_scrub_position(ScrubPosition {
            next: 0,
            done_at: now,
        })?;
        return Ok(());
    };
    let pace = Pace {
        stored: store.stored_bytes()?,
        days,
    };
    let wanted = pace.bytes(now - position.done_at);
    let (mut next, mut left) = (position.next, wanted);
    let mut outcome = Ok(0);
    'reading: while outcome.is_ok() {
        let objects = store.objects_from(next, OBJECTS)?;
        if objects.is_empty() {
            // From the beginning, with what is due from now on.
            (next, left) = (0, 0);
            break;
        }
        for object in &objects {
            if object.needed > left {
                break 'reading;
            }
            outcome = chunks.examine(object).await;
            left -= object.needed;
            next = object.after();
            // One that can't be read is passed over: it must not keep the others from being looked at.
            if outcome.is_err() {
                break;
            }
        }
    }
    // What is too little for the next object is due the next time.
    let done_at = now - pace.time(left);
    if wanted > 0 || now < position.done_at {
        store.set_scrub_position(ScrubPosition { next, done_at })?;
    }
    // One damaged chunk of a file was found by whoever read it: others may be, too.
    let beside = store.chunks_beside_damage(position.done_at)?;
    chunks.examine_places(&beside).await?;
    outcome.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_once_in_the_days_given() {
        let pace = Pace {
            stored: 3_000,
            days: 30,
        };
        assert_eq!(pace.bytes(MS_PER_DAY), 100);
        assert_eq!(pace.bytes(0), 0);
        assert_eq!(pace.bytes(-1), 0, "a clock that was set back");
        assert_eq!(pace.time(100), MS_PER_DAY);
        let much = Pace {
            stored: u64::MAX,
            days: 1,
        };
        assert_eq!(much.bytes(MS_PER_DAY), MOST);
    }
}
