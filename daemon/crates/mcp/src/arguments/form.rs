//! Forms of single texts: ids, addresses, times, colours.

use crate::param::Form;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcOffset};

/// Returns the text in the service's form, or the rule that it breaks.
pub(super) fn check(form: Form, text: &str) -> Result<String, String> {
    let rule = match form {
        Form::Free => None,
        Form::NonEmpty | Form::LocalPath => text.trim().is_empty().then_some("can't be empty"),
        Form::Uuid => (!is_uuid(text)).then_some(
            "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000: list or search to get one",
        ),
        Form::Node => (!is_uuid(text) && !text.contains('/')).then_some(
            "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000, or a path such as /a/b, or, for the top of a team, its name and `/`: list or search to get one",
        ),
        Form::Email => {
            (!is_email(text)).then_some("must be an e-mail address such as name@example.com")
        }
        Form::DateTime => return date_time(text),
        Form::Handle => (!text.chars().all(is_handle))
            .then_some("can have letters, digits, hyphens and underscores only"),
        Form::Https => {
            (https_host(text).is_none()).then_some("must be an address that begins with https://")
        }
        Form::Callback => return callback(text),
        Form::Colour => (!is_colour(text)).then_some("must be a colour such as #1A2B3C"),
        Form::Duration => (!is_duration(text)).then_some(
            "must be a number with the unit s, m, h or d, such as 30d, of at most 36500 days",
        ),
        Form::Hex => (text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()))
            .then_some("must be 64 hexadecimal digits"),
    };
    match rule {
        Some(rule) => Err(rule.to_owned()),
        None if is_uuid(text) && matches!(form, Form::Uuid | Form::Node) => Ok(text.to_lowercase()),
        None => Ok(text.to_owned()),
    }
}

/// Accepts 36 characters, any case, any version.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_email(text: &str) -> bool {
    let Some((user, host)) = text.rsplit_once('@') else {
        return false;
    };
    let plain = |part: &str| !part.chars().any(|c| c.is_whitespace() || c.is_control());
    text.len() <= 254
        && !user.is_empty()
        && !user.contains('@')
        && plain(user)
        && plain(host)
        && host.contains('.')
        && host.split('.').all(|label| !label.is_empty())
}

/// Accepts seconds, minutes, hours or days, of at most 36500 days, as the service does.
fn is_duration(text: &str) -> bool {
    const MAX_SECONDS: u64 = 36_500 * 24 * 3600;
    let seconds = |unit: char| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(24 * 3600),
        _ => None,
    };
    let Some(unit) = text.chars().next_back() else {
        return false;
    };
    let number = text
        .strip_suffix(unit)
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let number = number.and_then(|digits| digits.parse::<u64>().ok());
    let total = number
        .zip(seconds(unit))
        .and_then(|(number, unit)| number.checked_mul(unit));
    total.is_some_and(|total| (1..=MAX_SECONDS).contains(&total))
}

fn is_handle(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Converts an ISO 8601 date or date-time to RFC 3339 in UTC, which is also the zone if none is named.
fn date_time(text: &str) -> Result<String, String> {
    let parsed = OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(text, &Iso8601::PARSING))
        .or_else(|_| {
            PrimitiveDateTime::parse(text, &Iso8601::PARSING).map(PrimitiveDateTime::assume_utc)
        })
        .or_else(|_| Date::parse(text, &Iso8601::PARSING).map(|date| date.midnight().assume_utc()));
    let rule = || {
        "must be an ISO 8601 date or date-time such as 2026-01-31 or 2026-01-31T12:00:00Z"
            .to_owned()
    };
    let date_time = parsed
        .map_err(|_| rule())?
        .checked_to_offset(UtcOffset::UTC)
        .ok_or_else(rule)?;
    if !(0..=9999).contains(&date_time.year()) {
        return Err(rule());
    }
    Ok(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        date_time.year(),
        u8::from(date_time.month()),
        date_time.day(),
        date_time.hour(),
        date_time.minute(),
        date_time.second(),
        date_time.millisecond()
    ))
}

/// Returns the host of an https address.
fn https_host(text: &str) -> Option<String> {
    let scheme = text.get(..8)?;
    let rest = text
        .get(8..)
        .filter(|_| scheme.eq_ignore_ascii_case("https://"))?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next()?,
        None => host.split(':').next()?,
    };
    let clean = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    (clean && !host.is_empty()).then(|| host.trim_end_matches('.').to_lowercase())
}

/// Accepts HTTPS to a host that can be public. The service checks the resolved address when it
/// connects.
fn callback(text: &str) -> Result<String, String> {
    let host = https_host(text).ok_or("must be an address that begins with https://")?;
    let private =
        "can't be a private or internal address: the service has to reach it from outside";
    let first = host.split('.').next().unwrap_or_default();
    if ["localhost", "metadata", "internal"].contains(&first) || host.ends_with(".localhost") {
        return Err(private.to_owned());
    }
    let address = host
        .parse::<IpAddr>()
        .ok()
        .or_else(|| unusual_ipv4(&host).map(IpAddr::V4));
    match address {
        Some(IpAddr::V4(v4)) if is_private_v4(v4) => Err(private.to_owned()),
        Some(IpAddr::V6(v6)) if is_private_v6(v6) => Err(private.to_owned()),
        _ => Ok(text.to_owned()),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.octets()[0] == 0
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.to_ipv4().is_some_and(is_private_v4)
}

/// Parses the unusual forms of IPv4 addresses that resolvers still accept: fewer parts, hexadecimal, octal.
fn unusual_ipv4(host: &str) -> Option<Ipv4Addr> {
    let mut parts = Vec::new();
    for part in host.split('.') {
        let hex = part.strip_prefix("0x");
        let number = match (hex, part) {
            (Some(digits), _) => u32::from_str_radix(digits, 16),
            (None, part) if part.len() > 1 && part.starts_with('0') => u32::from_str_radix(part, 8),
            (None, part) => part.parse(),
        };
        parts.push(number.ok()?);
    }
    let last = parts.pop()?;
    if parts.len() > 3 || parts.iter().any(|part| *part > 255) {
        return None;
    }
    let shift = 8 * (4 - u32::try_from(parts.len()).ok()?);
    if shift < 32 && last >> shift != 0 {
        return None;
    }
    let head = parts
        .iter()
        .enumerate()
        .fold(0_u32, |sum, (at, part)| sum | (part << (24 - 8 * at)));
    Some(Ipv4Addr::from(head | last))
}
