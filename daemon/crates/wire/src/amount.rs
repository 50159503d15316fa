//! Money and tokens on the wire: decimal text outside, whole hundredths inside.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// Digits before the point at most: far more than anybody has, far less than overflows.
const MAX_DIGITS: usize = 12;

/// Hundredths of a unit (cents of a dollar); `"4.99"` in JSON, and never a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Amount(pub i64);

/// A text that is no amount.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a valid amount (try `4.99`, with at most two decimal places)")]
pub struct NoAmount(String);

impl FromStr for Amount {
    type Err = NoAmount;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || NoAmount(text.chars().take(40).collect());
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |text: &str, longest: usize| {
            (1..=longest).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, MAX_DIGITS) || !is_number(part, 2) {
            return Err(bad());
        }
        let whole: i64 = whole.parse().map_err(|_| bad())?;
        let part: i64 = format!("{part:0<2}").parse().map_err(|_| bad())?;
        let hundredths = whole * 100 + part;
        Ok(Self(if negative { -hundredths } else { hundredths }))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", size / 100, size % 100)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        /// A JSON number is read by its decimal digits, so that `4.99` is 499 hundredths.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Number(serde_json::Number),
        }
        let text = match Written::deserialize(d)? {
            Written::Text(text) => text,
            Written::Number(number) => number.to_string(),
        };
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn text_and_numbers_become_hundredths_exactly() {
        for (json, hundredths) in [
            ("\"4.99\"", 499),
            ("\"0.01\"", 1),
            ("\"10\"", 1000),
            ("\"1.5\"", 150),
            ("\"-2.30\"", -230),
            ("4.99", 499),
            ("0.29", 29),
            ("100", 10_000),
        ] {
            let amount: Amount = serde_json::from_str(json).unwrap();
            assert_eq!(amount.0, hundredths, "{json}");
            let written = serde_json::to_string(&amount).unwrap();
            assert_eq!(serde_json::from_str::<Amount>(&written).unwrap(), amount);
        }
        assert_eq!(Amount(-5).to_string(), "-0.05");
    }

    #[test]
    fn what_is_no_amount_of_hundredths_is_refused() {
        for json in [
            "\"\"",
            "\"1.234\"",
            "\"1.\"",
            "\".5\"",
            "\"1e3\"",
            "\" 1\"",
            "\"+1\"",
            "\"--1\"",
            "\"1,50\"",
            "\"9999999999999\"",
            "0.001",
            "1e30",
            "null",
            "true",
        ] {
            assert!(serde_json::from_str::<Amount>(json).is_err(), "{json}");
        }
    }
}
