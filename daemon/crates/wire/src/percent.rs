//! Percentages on the wire: a JSON number outside, whole hundredths of a percent inside.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Hundredths of a percent; `80` or `80.5` in JSON. More places are rounded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Percent(pub i64);

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 % 100 {
            0 => s.serialize_i64(self.0 / 100),
            _ => s.serialize_f64(self.0 as f64 / 100.0),
        }
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let percent = f64::deserialize(d)?;
        Ok(Self((percent * 100.0).round() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::Percent;

    #[test]
    fn numbers_with_and_without_a_fraction_are_hundredths() {
        for (json, hundredths, back) in [
            ("80", 8_000, "80"),
            ("80.0", 8_000, "80"),
            ("80.5", 8_050, "80.5"),
            ("33.333", 3_333, "33.33"),
            ("-1", -100, "-1"),
        ] {
            let percent: Percent = serde_json::from_str(json).unwrap();
            assert_eq!(percent, Percent(hundredths));
            assert_eq!(serde_json::to_string(&percent).unwrap(), back);
        }
        assert!(serde_json::from_str::<Percent>("\"80\"").is_err());
    }
}
