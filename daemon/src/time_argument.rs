//! Times as a person or a script writes them, in the past or in the future.
//!
//! A local time is the one that clocks show on that day. A time that is shown twice, because the clock goes back,
//! is the first of the two, as long as that fits; one that is skipped is as long after the change.

use cairn_platform::Zone;
use cairn_wire::Timestamp;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

const MS_PER_SECOND: i64 = 1_000;

/// Examples of a time in the past, for a text that can't be read as one.
pub(crate) const PAST_EXAMPLES: &str = "try `2h ago`, `2026-03-01 14:00` or `2026-03-01T14:00:00Z`";

/// The beginning of 1970: nothing in a history is older, and numbers before it are no times to most programs.
const OLDEST: i64 = 0;

/// Reads a time: RFC 3339, `2h ago`, `now`, `yesterday`, or a local date with or without a time. Returns
/// milliseconds since 1970-01-01 UTC; `None` for anything else, and for what is later than now or before 1970.
pub(crate) fn parse_past(text: &str, now_ms: i64, zone: &Zone) -> Option<i64> {
    let text = text.trim();
    let at = match text {
        "now" => Some(now_ms),
        "today" | "yesterday" => {
            let today = to_local(now_ms, zone)?.date();
            let day = if text == "today" {
                Some(today)
            } else {
                today.previous_day()
            };
            first_instant(day?.midnight(), zone)
        }
        _ => Timestamp::parse(text)
            .map(|at| at.0)
            .or_else(|| parse_ago(text, now_ms))
            .or_else(|| first_instant(local_time(text, now_ms, zone)?, zone)),
    }?;
    (OLDEST..=now_ms).contains(&at).then_some(at)
}

/// Reads a span with its unit, such as `90m`, `2 hours` or `3d`, as milliseconds.
fn span(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: i64 = number.parse().ok().filter(|n| *n < 1_000_000_000)?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3_600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        _ => return None,
    };
    number.checked_mul(seconds)?.checked_mul(MS_PER_SECOND)
}

fn parse_ago(text: &str, now_ms: i64) -> Option<i64> {
    now_ms.checked_sub(span(text.strip_suffix("ago")?)?)
}

/// Reads a local date and time, a date alone (its beginning), or a time of today.
fn local_time(text: &str, now_ms: i64, zone: &Zone) -> Option<PrimitiveDateTime> {
    const DAY: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[year]-[month]-[day]");
    const SECOND: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[hour padding:none]:[minute]:[second]");
    let time = |text: &str| Time::parse(text, SECOND).ok().or_else(|| of_day(text));
    if let Ok(day) = Date::parse(text, DAY) {
        return Some(day.midnight());
    }
    if let Some(time) = time(text) {
        return Some(to_local(now_ms, zone)?.date().with_time(time));
    }
    let (day, of_day) = text.split_once([' ', 'T'])?;
    let day = Date::parse(day, DAY).ok()?;
    Some(day.with_time(time(of_day.trim())?))
}

/// Reads a time of the day, such as `8:30`.
fn of_day(text: &str) -> Option<Time> {
    Time::parse(text, format_description!("[hour padding:none]:[minute]")).ok()
}

/// Reads a time in the future as milliseconds since 1970-01-01 UTC: `30m`, `2h`, `18:30`, `tomorrow`, `2026-01-02 08:00`, RFC 3339.
pub(crate) fn parse_until(text: &str, now_ms: i64, zone: &Zone) -> Option<i64> {
    let today = to_local(now_ms, zone)?.date();
    let text = text.trim();
    let after_now = |local| after(local, now_ms, zone);
    let ms = if let Some(at) = Timestamp::parse(text) {
        at.0
    } else if text == "tomorrow" {
        zone.next_day(now_ms)?
    } else if let Some(time) = of_day(text) {
        let tomorrow = today.next_day()?.with_time(time);
        after_now(today.with_time(time)).or_else(|| after_now(tomorrow))?
    } else if let Ok(at) = PrimitiveDateTime::parse(
        text,
        format_description!("[year]-[month]-[day] [hour padding:none]:[minute]"),
    ) {
        after_now(at)?
    } else {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let number: i64 = number
            .trim()
            .trim_start_matches('+')
            .parse()
            .ok()
            .filter(|n| (1..1_000_000).contains(n))?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        now_ms.checked_add(number * seconds * MS_PER_SECOND)?
    };
    (ms > now_ms).then_some(ms)
}

/// Returns the local time of milliseconds since 1970-01-01 UTC.
fn to_local(ms: i64, zone: &Zone) -> Option<PrimitiveDateTime> {
    let offset = UtcOffset::from_whole_seconds(zone.offset_s(ms)).ok()?;
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000);
    let at = at.ok()?.to_offset(offset);
    Some(PrimitiveDateTime::new(at.date(), at.time()))
}

/// Returns the first instant of a local time.
fn first_instant(local: PrimitiveDateTime, zone: &Zone) -> Option<i64> {
    Some(zone.instants(as_utc(local)?)?.first)
}

/// Returns the first instant of a local time that is to come.
fn after(local: PrimitiveDateTime, now_ms: i64, zone: &Zone) -> Option<i64> {
    let found = zone.instants(as_utc(local)?)?;
    [found.first, found.last]
        .into_iter()
        .find(|ms| *ms > now_ms)
}

fn as_utc(local: PrimitiveDateTime) -> Option<i64> {
    i64::try_from(local.assume_utc().unix_timestamp_nanos() / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::text::rfc3339;

    fn berlin() -> Zone {
        Zone::from_rule("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
    }

    fn new_york() -> Zone {
        Zone::from_rule("EST5EDT,M3.2.0,M11.1.0").unwrap()
    }

    fn ms(text: &str) -> i64 {
        Timestamp::parse(text).unwrap().0
    }

    fn read(text: &str) -> Option<String> {
        // 2026-03-02 12:00 in UTC+1.
        let now = Timestamp::parse("2026-03-02T11:00:00Z").unwrap().0;
        parse_past(text, now, &berlin()).map(rfc3339)
    }

    #[test]
    fn every_form_is_read() {
        for (text, at) in [
            ("now", "2026-03-02T11:00:00.000Z"),
            ("2h ago", "2026-03-02T09:00:00.000Z"),
            ("90 minutes ago", "2026-03-02T09:30:00.000Z"),
            ("1 day ago", "2026-03-01T11:00:00.000Z"),
            ("2w ago", "2026-02-16T11:00:00.000Z"),
            ("today", "2026-03-01T23:00:00.000Z"),
            ("yesterday", "2026-02-28T23:00:00.000Z"),
            ("2026-03-01", "2026-02-28T23:00:00.000Z"),
            ("2026-03-01 14:00", "2026-03-01T13:00:00.000Z"),
            ("2026-03-01T14:00", "2026-03-01T13:00:00.000Z"),
            (" 2026-03-01 9:05:30 ", "2026-03-01T08:05:30.000Z"),
            ("8:30", "2026-03-02T07:30:00.000Z"),
            ("2026-03-01T14:00:00Z", "2026-03-01T14:00:00.000Z"),
            ("2026-03-01T14:00:00.250+01:00", "2026-03-01T13:00:00.250Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(at), "{text}");
        }
    }

    #[test]
    fn the_future_and_nonsense_are_refused() {
        for text in [
            "",
            "ago",
            "2 ago",
            "2x ago",
            "-2h ago",
            "2h",
            "tomorrow",
            "13:00",
            "2026-03-03",
            "2026-13-01",
            "2026-03-01 25:00",
            "2026-03-02T12:00:00Z",
            "999999999999w ago",
            "9999999 days ago",
            "800000 days ago",
            "1969-12-31",
            "é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn until_is_always_in_the_future() {
        // 2026-01-02 12:00 in UTC+1.
        let now = Timestamp::parse("2026-01-02T11:00:00Z").unwrap().0;
        let until = |text: &str| parse_until(text, now, &berlin()).map(rfc3339);
        assert_eq!(until("30m").unwrap(), "2026-01-02T11:30:00.000Z");
        assert_eq!(until("2h").unwrap(), "2026-01-02T13:00:00.000Z");
        assert_eq!(until("18:30").unwrap(), "2026-01-02T17:30:00.000Z");
        assert_eq!(until("8:30").unwrap(), "2026-01-03T07:30:00.000Z");
        assert_eq!(until("tomorrow").unwrap(), "2026-01-02T23:00:00.000Z");
        assert_eq!(
            until("2026-02-01 08:00").unwrap(),
            "2026-02-01T07:00:00.000Z"
        );
        assert_eq!(until("2026-01-02T12:00:00+01:00"), None, "not after now");
        for bad in ["", "m", "-5m", "yesterday", "25:00", "é"] {
            assert_eq!(until(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_local_time_is_that_of_its_day_and_not_of_today() {
        // Winter, and summer times are read; and the other way round.
        let (winter, summer) = (ms("2026-12-01T12:00:00Z"), ms("2026-07-01T12:00:00Z"));
        for (zone, now, text, at) in [
            (
                berlin(),
                winter,
                "2026-07-01 14:00",
                "2026-07-01T12:00:00.000Z",
            ),
            (berlin(), winter, "2026-07-01", "2026-06-30T22:00:00.000Z"),
            (
                berlin(),
                summer,
                "2026-01-15 14:00",
                "2026-01-15T13:00:00.000Z",
            ),
            // Twice: the first of the two. Skipped: as long after the change.
            (
                berlin(),
                winter,
                "2026-10-25 02:30",
                "2026-10-25T00:30:00.000Z",
            ),
            (
                berlin(),
                winter,
                "2026-03-29 02:30",
                "2026-03-29T01:30:00.000Z",
            ),
            (
                new_york(),
                winter,
                "2026-07-01 14:00",
                "2026-07-01T18:00:00.000Z",
            ),
            (
                new_york(),
                winter,
                "2026-11-01 01:30",
                "2026-11-01T05:30:00.000Z",
            ),
            (
                new_york(),
                winter,
                "2026-03-08 02:30",
                "2026-03-08T07:30:00.000Z",
            ),
        ] {
            let read = parse_past(text, now, &zone).map(rfc3339);
            assert_eq!(read.as_deref(), Some(at), "{text}");
        }
        // The day after the change begins at its own midnight.
        let monday = ms("2026-03-30T10:00:00Z");
        let yesterday = parse_past("yesterday", monday, &berlin()).map(rfc3339);
        assert_eq!(yesterday.as_deref(), Some("2026-03-28T23:00:00.000Z"));
    }

    #[test]
    fn until_knows_the_change_of_the_clock() {
        let saturday = "2026-10-24T10:00:00Z";
        for (zone, now, text, at) in [
            (berlin(), saturday, "8:30", "2026-10-25T07:30:00.000Z"),
            (
                berlin(),
                saturday,
                "2026-10-26 08:00",
                "2026-10-26T07:00:00.000Z",
            ),
            (
                berlin(),
                "2026-10-25T10:00:00Z",
                "tomorrow",
                "2026-10-25T23:00:00.000Z",
            ),
            // Between the two times at which clocks show 02:30, it is still to come.
            (
                berlin(),
                "2026-10-25T00:45:00Z",
                "2:30",
                "2026-10-25T01:30:00.000Z",
            ),
            (
                berlin(),
                "2026-10-25T01:45:00Z",
                "2:30",
                "2026-10-26T01:30:00.000Z",
            ),
            (
                berlin(),
                "2026-03-28T22:00:00Z",
                "2:30",
                "2026-03-29T01:30:00.000Z",
            ),
            (
                new_york(),
                "2026-10-31T12:00:00Z",
                "7:00",
                "2026-11-01T12:00:00.000Z",
            ),
            // A span is as long as it is.
            (berlin(), saturday, "1d", "2026-10-25T10:00:00.000Z"),
        ] {
            let until = parse_until(text, ms(now), &zone).map(rfc3339);
            assert_eq!(until.as_deref(), Some(at), "{text} after {now}");
        }
    }
}
