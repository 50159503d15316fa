//! Times on the wire.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// The first and the last time that RFC 3339 can write in UTC: of the years 0000 and 9999.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

/// Milliseconds since 1970-01-01 UTC; RFC 3339 in UTC with milliseconds as text.
///
/// A number outside of the years 0000 to 9999 is written as the nearest time that the text can say, so that no answer
/// fails because of one value in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the time on this machine's clock; 1970 for one that is set to before it.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Reads any RFC 3339 text whose time is of the years 0000 to 9999 also in UTC; finer than milliseconds is cut
    /// off.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000))
            .ok()
            .filter(|ms| (FIRST..=LAST).contains(ms))
            .map(Self)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        );
        let ms = self.0.clamp(FIRST, LAST);
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000)
            .ok()
            .and_then(|at| at.to_offset(UtcOffset::UTC).format(&layout).ok())
            .ok_or(fmt::Error)?;
        f.write_str(&text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("expected an RFC 3339 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_prints_in_utc_with_milliseconds() {
        let at = Timestamp::parse("2026-01-02T03:04:05.678901+02:00").unwrap();
        assert_eq!(at.to_string(), "2026-01-02T01:04:05.678Z");
        assert_eq!(Timestamp::parse(&at.to_string()), Some(at));
    }

    #[test]
    fn every_number_has_a_text_and_every_text_its_number() {
        for (ms, text) in [
            (i64::MIN, "0000-01-01T00:00:00.000Z"),
            (FIRST, "0000-01-01T00:00:00.000Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp(ms).to_string(), text, "{ms}");
            assert_eq!(
                Timestamp::parse(text),
                Some(Timestamp(ms.clamp(FIRST, LAST)))
            );
        }
        for beyond in ["9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"] {
            assert_eq!(Timestamp::parse(beyond), None, "{beyond}");
        }
    }
}
