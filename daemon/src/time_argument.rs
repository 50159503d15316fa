//! Times as a person or a script writes them, in the past or in the future.

use cairn_wire::Timestamp;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

const MS_PER_SECOND: i64 = 1_000;

/// Examples of a time in the past, for a text that can't be read as one.
pub(crate) const PAST_EXAMPLES: &str = "try `2h ago`, `2026-03-01 14:00` or `2026-03-01T14:00:00Z`";

/// Reads a time: RFC 3339, `2h ago`, `now`, `yesterday`, or a local date with or without a time. Returns
/// milliseconds since 1970-01-01 UTC; `None` for anything else, and for what is later than now.
pub(crate) fn parse_past(text: &str, now_ms: i64, offset: UtcOffset) -> Option<i64> {
    let text = text.trim();
    let at = match text {
        "now" => Some(now_ms),
        "today" | "yesterday" => {
            let today = local(now_ms, offset)?.date();
            let day = if text == "today" {
                Some(today)
            } else {
                today.previous_day()
            };
            milliseconds(day?.midnight(), offset)
        }
        _ => Timestamp::parse(text)
            .map(|at| at.0)
            .or_else(|| ago(text, now_ms))
            .or_else(|| local_time(text, now_ms, offset)),
    }?;
    (at <= now_ms).then_some(at)
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

fn ago(text: &str, now_ms: i64) -> Option<i64> {
    now_ms.checked_sub(span(text.strip_suffix("ago")?)?)
}

/// Reads a local date and time, a date alone (its beginning), or a time of today.
fn local_time(text: &str, now_ms: i64, offset: UtcOffset) -> Option<i64> {
    const DAY: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[year]-[month]-[day]");
    const MINUTE: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[hour padding:none]:[minute]");
    const SECOND: &[time::format_description::BorrowedFormatItem<'_>] =
        format_description!("[hour padding:none]:[minute]:[second]");
    let time = |text: &str| {
        Time::parse(text, SECOND)
            .or_else(|_| Time::parse(text, MINUTE))
            .ok()
    };
    if let Ok(day) = Date::parse(text, DAY) {
        return milliseconds(day.midnight(), offset);
    }
    if let Some(time) = time(text) {
        let today = local(now_ms, offset)?.date();
        return milliseconds(PrimitiveDateTime::new(today, time), offset);
    }
    let (day, of_day) = text.split_once([' ', 'T'])?;
    let day = Date::parse(day, DAY).ok()?;
    milliseconds(PrimitiveDateTime::new(day, time(of_day.trim())?), offset)
}

/// Reads a time in the future as milliseconds since 1970-01-01 UTC: `30m`, `2h`, `18:30`, `tomorrow`, `2026-01-02 08:00`, RFC 3339.
pub(crate) fn parse_until(text: &str, now_ms: i64, offset: UtcOffset) -> Option<i64> {
    let now = local(now_ms, offset)?;
    let text = text.trim();
    let at = if let Some(at) = Timestamp::parse(text) {
        return (at.0 > now_ms).then_some(at.0);
    } else if text == "tomorrow" {
        now.date().next_day()?.midnight().assume_offset(offset)
    } else if let Ok(time) = Time::parse(text, format_description!("[hour padding:none]:[minute]"))
    {
        let today = now.date().with_time(time).assume_offset(offset);
        if today > now {
            today
        } else {
            today + Duration::DAY
        }
    } else if let Ok(at) = PrimitiveDateTime::parse(
        text,
        format_description!("[year]-[month]-[day] [hour padding:none]:[minute]"),
    ) {
        at.assume_offset(offset)
    } else {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let number: i64 = number
            .trim()
            .trim_start_matches('+')
            .parse()
            .ok()
            .filter(|n| (1..1_000_000).contains(n))?;
        now + match unit {
            "s" => Duration::seconds(number),
            "m" => Duration::minutes(number),
            "h" => Duration::hours(number),
            "d" => Duration::days(number),
            _ => return None,
        }
    };
    let ms = i64::try_from(at.unix_timestamp_nanos() / 1_000_000).ok()?;
    (ms > now_ms).then_some(ms)
}

fn local(ms: i64, offset: UtcOffset) -> Option<OffsetDateTime> {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000);
    Some(at.ok()?.to_offset(offset))
}

fn milliseconds(at: PrimitiveDateTime, offset: UtcOffset) -> Option<i64> {
    i64::try_from(at.assume_offset(offset).unix_timestamp_nanos() / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::text::rfc3339;

    fn read(text: &str) -> Option<String> {
        // 2026-03-02 12:00 in UTC+1.
        let offset = UtcOffset::from_hms(1, 0, 0).unwrap();
        let now = Timestamp::parse("2026-03-02T11:00:00Z").unwrap().0;
        parse_past(text, now, offset).map(rfc3339)
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
            "é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn until_is_always_in_the_future() {
        // 2026-01-02 12:00 in UTC+1.
        let offset = UtcOffset::from_hms(1, 0, 0).unwrap();
        let now = Timestamp::parse("2026-01-02T11:00:00Z").unwrap().0;
        let until = |text: &str| parse_until(text, now, offset).map(rfc3339);
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
}
