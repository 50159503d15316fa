//! The system's time zone: the offset from UTC at any time, with its changes in spring and autumn.

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone};

const DAY_MS: i64 = 86_400_000;

/// A time zone.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

/// The instants at which clocks of a zone show a local time, in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instants {
    pub first: i64,
    /// Another one than the first only where the clock goes back over the time.
    pub last: i64,
}

impl Zone {
    /// Returns the zone of `TZ` or of the system; UTC where there is none, which is logged where `TZ` names one.
    #[must_use]
    pub fn system() -> Self {
        let found = TimeZone::try_system();
        if let (Err(error), Some(name)) = (&found, std::env::var_os("TZ")) {
            tracing::warn!(?name, %error, "the zone in TZ can't be read: times are in UTC");
        }
        Self(found.unwrap_or(TimeZone::UTC))
    }

    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the zone of a rule as POSIX writes it in `TZ`, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    #[must_use]
    pub fn from_rule(rule: &str) -> Option<Self> {
        TimeZone::posix(rule).ok().map(Self)
    }

    /// Returns the seconds that clocks are ahead of UTC at a time in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn offset_s(&self, at_ms: i64) -> i32 {
        Timestamp::from_millisecond(at_ms).map_or(0, |at| self.0.to_offset(at).seconds())
    }

    /// Returns the beginning of the next day after a time; both are milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn next_day(&self, at_ms: i64) -> Option<i64> {
        let local = at_ms.checked_add(i64::from(self.offset_s(at_ms)) * 1_000)?;
        let next = local.div_euclid(DAY_MS).checked_add(1)?;
        Some(self.instants(next.checked_mul(DAY_MS)?)?.first)
    }

    /// Returns the instants of a local time, which is given as the milliseconds that a clock in UTC would show
    /// it at. A time that the clock skips becomes the one that is as long after the change: 02:30 becomes 03:30
    /// (as in RFC 5545, section 3.3.5).
    ///
    /// `None` for years that no calendar has.
    #[must_use]
    pub fn instants(&self, local_ms: i64) -> Option<Instants> {
        let as_utc = Timestamp::from_millisecond(local_ms).ok()?;
        let local = TimeZone::UTC.to_datetime(as_utc);
        let found = self.0.to_ambiguous_timestamp(local);
        let is_skipped = matches!(found.offset(), AmbiguousOffset::Gap { .. });
        let last = found.later().ok()?.as_millisecond();
        let first = if is_skipped {
            last
        } else {
            found.earlier().ok()?.as_millisecond()
        };
        Some(Instants { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(rule: &str) -> Zone {
        Zone::from_rule(rule).unwrap()
    }

    fn ms(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    /// Returns the instants at which clocks show a time, as text.
    fn instants_text(zone: &Zone, local: &str) -> (String, String) {
        let found = zone.instants(ms(&format!("{local}Z"))).unwrap();
        let text = |ms| Timestamp::from_millisecond(ms).unwrap().to_string();
        (text(found.first), text(found.last))
    }

    #[test]
    fn a_local_time_is_found_on_both_sides_of_a_change() {
        for (rule, local, first, last) in [
            (
                "CET-1CEST,M3.5.0,M10.5.0/3",
                "2026-03-28T14:00:00",
                "2026-03-28T13:00:00Z",
                None,
            ),
            (
                "CET-1CEST,M3.5.0,M10.5.0/3",
                "2026-03-29T14:00:00",
                "2026-03-29T12:00:00Z",
                None,
            ),
            // Skipped.
            (
                "CET-1CEST,M3.5.0,M10.5.0/3",
                "2026-03-29T02:30:00",
                "2026-03-29T01:30:00Z",
                None,
            ),
            // Twice.
            (
                "CET-1CEST,M3.5.0,M10.5.0/3",
                "2026-10-25T02:30:00",
                "2026-10-25T00:30:00Z",
                Some("2026-10-25T01:30:00Z"),
            ),
            (
                "EST5EDT,M3.2.0,M11.1.0",
                "2026-03-08T02:30:00",
                "2026-03-08T07:30:00Z",
                None,
            ),
            (
                "EST5EDT,M3.2.0,M11.1.0",
                "2026-11-01T01:30:00",
                "2026-11-01T05:30:00Z",
                Some("2026-11-01T06:30:00Z"),
            ),
        ] {
            let expected = (first.to_owned(), last.unwrap_or(first).to_owned());
            assert_eq!(
                instants_text(&zone(rule), local),
                expected,
                "{rule} {local}"
            );
        }
    }

    #[test]
    fn a_day_ends_at_its_own_midnight() {
        let berlin = zone("CET-1CEST,M3.5.0,M10.5.0/3");
        let next = |now: &str| berlin.next_day(ms(now));
        let saturday = next("2026-10-24T10:00:00Z");
        assert_eq!(saturday, Some(ms("2026-10-24T22:00:00Z")));
        // This one has 25 hours.
        let sunday = next("2026-10-24T22:00:00Z");
        assert_eq!(sunday, Some(ms("2026-10-25T23:00:00Z")));
    }

    #[test]
    fn the_offset_is_the_one_of_the_time_that_is_asked_for() {
        let berlin = zone("CET-1CEST,M3.5.0,M10.5.0/3");
        assert_eq!(berlin.offset_s(ms("2026-01-01T00:00:00Z")), 3_600);
        assert_eq!(berlin.offset_s(ms("2026-07-01T00:00:00Z")), 7_200);
        assert_eq!(Zone::utc().offset_s(ms("2026-07-01T00:00:00Z")), 0);
        assert_eq!(berlin.offset_s(i64::MAX), 0);
        assert_eq!(berlin.instants(i64::MAX), None);
    }
}
