//! Daily schedules of the bandwidth limits: `08:00-18:00 1MB/s, 22:00-06:00 off`.

use super::value::parse_rate;
use crate::output::text::rate as rate_text;
use std::fmt;

/// The minutes of a day.
const DAY: u16 = 24 * 60;

/// The limit of one direction by the time of the day, as clocks show it here: in summer that of summer. An hour that
/// a clock skips has no limit of its own, and one that it shows twice has its limit twice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct RateSchedule(Vec<Window>);

/// A part of the day with its limit. It may go over midnight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    /// Minutes of the day; the last one is not part of it.
    from: u16,
    to: u16,
    /// Bytes per second; `None`: no limit.
    rate: Option<u64>,
}

impl Window {
    fn contains(&self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

impl RateSchedule {
    /// Reads a schedule; `off` is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("off") {
            return Ok(Self::default());
        }
        let windows: Vec<Window> = text
            .split(',')
            .map(parse_window)
            .collect::<Result<_, _>>()?;
        for minute in 0..DAY {
            let mut limits = windows.iter().filter(|window| window.contains(minute));
            if limits.nth(1).is_some() {
                let at = time_text(minute);
                return Err(format!("`{text}` has two limits for {at}: give it one"));
            }
        }
        Ok(Self(windows))
    }

    /// Returns the limit at a minute of the day: `usual` where the schedule has none.
    pub(crate) fn rate_at(&self, minute: u16, usual: Option<u64>) -> Option<u64> {
        let window = self.0.iter().find(|window| window.contains(minute));
        window.map_or(usual, |window| window.rate)
    }
}

/// Writes a schedule as it is read: rates in bytes per second.
impl fmt::Display for RateSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(|rate| rate.to_string()))
    }
}

impl RateSchedule {
    /// Returns the text for people: rates with their units.
    pub(crate) fn text_for_people(&self) -> String {
        self.text(rate_text)
    }

    fn text(&self, rate: impl Fn(u64) -> String) -> String {
        if self.0.is_empty() {
            return "off".to_owned();
        }
        let windows = self.0.iter().map(|window| {
            let (from, to) = (time_text(window.from), time_text(window.to));
            let rate = window.rate.map_or_else(|| "off".to_owned(), &rate);
            format!("{from}-{to} {rate}")
        });
        windows.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the minute of the day that clocks show at a time in milliseconds since 1970-01-01 UTC, `offset_s` seconds
/// ahead of UTC.
pub(crate) fn minute_of_day(at_ms: i64, offset_s: i32) -> u16 {
    let local_s = at_ms.div_euclid(1000).saturating_add(i64::from(offset_s));
    let minute = local_s.div_euclid(60).rem_euclid(i64::from(DAY));
    u16::try_from(minute).unwrap_or(0)
}

fn parse_window(text: &str) -> Result<Window, String> {
    let text = text.trim();
    let wrong = || {
        format!(
            "`{text}` is not a valid part of a schedule: write times and a rate, such as `08:00-18:00 1MB/s` or `22:00-06:00 off`"
        )
    };
    let (times, rate) = text.split_once(char::is_whitespace).ok_or_else(wrong)?;
    let (from, to) = times.split_once('-').ok_or_else(wrong)?;
    let (from, to) = (parse_time(from), parse_time(to));
    let (Some(from), Some(to)) = (from, to) else {
        return Err(wrong());
    };
    if from == to || from == DAY {
        return Err(format!(
            "`{text}` is not a valid time range: write `00:00-24:00` for the whole day"
        ));
    }
    Ok(Window {
        from,
        to,
        rate: parse_rate(rate)?,
    })
}

/// Reads `HH:MM`, from 00:00 to 24:00.
fn parse_time(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let is_number = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) {
        return None;
    }
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let time = hour * 60 + minute;
    (minute < 60 && time <= DAY).then_some(time)
}

fn time_text(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_platform::Zone;

    const USUAL: Option<u64> = Some(5);

    fn rate_at(schedule: &str, time: &str) -> Option<u64> {
        let minute = parse_time(time).unwrap();
        RateSchedule::parse(schedule)
            .unwrap()
            .rate_at(minute, USUAL)
    }

    #[test]
    fn people_see_rates_with_their_units() {
        let schedule = RateSchedule::parse("08:00-18:00 10kb, 22:00-06:00 off").unwrap();
        assert_eq!(
            schedule.text_for_people(),
            "08:00-18:00 10 KB/s, 22:00-06:00 off"
        );
        assert_eq!(schedule.to_string(), "08:00-18:00 10000, 22:00-06:00 off");
    }

    #[test]
    fn each_time_of_the_day_has_its_limit() {
        let office = "08:00-18:00 1 MB/s";
        let two = "08:00-12:00 1MB, 13:00-18:00 500KB/s";
        let night = "22:00-06:00 off";
        for (schedule, time, expected) in [
            ("off", "12:00", USUAL),
            ("", "12:00", USUAL),
            (office, "07:59", USUAL),
            (office, "08:00", Some(1_000_000)),
            (office, "17:59", Some(1_000_000)),
            (office, "18:00", USUAL),
            (two, "11:59", Some(1_000_000)),
            (two, "12:30", USUAL),
            (two, "13:00", Some(500_000)),
            (night, "21:59", USUAL),
            (night, "22:00", None),
            (night, "00:00", None),
            (night, "05:59", None),
            (night, "06:00", USUAL),
            ("00:00-24:00 7", "23:59", Some(7)),
            ("00:00-24:00 7", "00:00", Some(7)),
            ("18:00-00:00 7", "23:59", Some(7)),
            ("18:00-00:00 7", "00:00", USUAL),
            ("18:00-24:00 7", "00:00", USUAL),
        ] {
            assert_eq!(rate_at(schedule, time), expected, "{schedule} at {time}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_an_example() {
        for (text, why) in [
            ("08:00-18:00", "such as"),
            ("8:00-18:00 1MB", "such as"),
            ("08:00-24:01 1MB", "such as"),
            ("08:60-09:00 1MB", "such as"),
            ("08:00 1MB", "such as"),
            ("08:00-08:00 1MB", "00:00-24:00"),
            ("24:00-08:00 1MB", "00:00-24:00"),
            ("08:00-18:00 fast", "not a valid rate"),
            ("08:00-18:00 1MB, 17:00-19:00 2MB", "two limits for 17:00"),
            ("22:00-06:00 1MB, 05:00-07:00 off", "two limits for 05:00"),
        ] {
            let message = RateSchedule::parse(text).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[test]
    fn a_schedule_is_written_as_it_is_read() {
        for text in [
            "off",
            "08:00-18:00 1000000, 22:00-06:00 off",
            "00:00-24:00 7",
        ] {
            let schedule = RateSchedule::parse(text).unwrap();
            assert_eq!(schedule.to_string(), text);
            assert_eq!(RateSchedule::parse(&schedule.to_string()), Ok(schedule));
        }
    }

    #[test]
    fn the_minute_is_that_of_the_local_clock_in_winter_and_in_summer() {
        let berlin = Zone::from_rule("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let minute = |at_s: i64| {
            let at_ms = at_s * 1000;
            time_text(minute_of_day(at_ms, berlin.offset_s(at_ms)))
        };
        // 2026-01-15 and 2026-07-15, both at 07:30 UTC.
        assert_eq!(minute(1_768_462_200), "08:30");
        assert_eq!(minute(1_784_100_600), "09:30");
        // 2026-03-29: the clock goes from 01:59 to 03:00, and has no time between them.
        assert_eq!(minute(1_774_745_999), "01:59");
        assert_eq!(minute(1_774_746_000), "03:00");
        // 2026-10-25: the hour from 02:00 to 03:00 comes twice.
        assert_eq!(minute(1_792_886_400), "02:00");
        assert_eq!(minute(1_792_890_000), "02:00");
        assert_eq!(minute(1_792_893_600), "03:00");
        // Before 1970 and west of Greenwich.
        assert_eq!(time_text(minute_of_day(-1, 0)), "23:59");
        assert_eq!(time_text(minute_of_day(0, -3600)), "23:00");
    }
}
