//! Texts of the tray in the person's language, with figures as that language writes them.
//!
//! The catalogues are those of the window: `ui/src/i18n/*.json`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

const EN: &str = include_str!("../../ui/src/i18n/en.json");
const DE: &str = include_str!("../../ui/src/i18n/de.json");

/// A language that Cairn speaks.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, ts_rs::TS,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    En,
    De,
}

type Catalogue = BTreeMap<String, String>;

impl Language {
    /// Returns the language of the system, or English if there is no catalogue for it.
    #[must_use]
    pub fn of_system() -> Self {
        sys_locale::get_locale().map_or(Self::En, |locale| Self::of_locale(&locale))
    }

    fn of_locale(locale: &str) -> Self {
        match locale.split(['-', '_', '.']).next() {
            Some("de") => Self::De,
            Some(_) | None => Self::En,
        }
    }

    fn catalogue(self) -> &'static Catalogue {
        static CATALOGUES: OnceLock<[Catalogue; 2]> = OnceLock::new();
        let [en, de] = CATALOGUES
            .get_or_init(|| [EN, DE].map(|text| serde_json::from_str(text).unwrap_or_default()));
        match self {
            Self::En => en,
            Self::De => de,
        }
    }

    /// Returns the text of a key that is put together at run time, as it is in the catalogue.
    pub(crate) fn find(self, key: &str) -> Option<&'static str> {
        self.catalogue().get(key).map(String::as_str)
    }

    /// Returns the text of a key, with `{name}` filled in. An unknown key shows itself.
    #[must_use]
    pub fn text(self, key: &str, values: &[(&str, &str)]) -> String {
        let text = self.find(key).unwrap_or(key);
        fill(text, values).unwrap_or_else(|| text.to_owned())
    }

    /// Returns the text for a number of things: `key.one` or `key.other`, with `{n}` filled in.
    #[must_use]
    pub fn count(self, key: &str, n: u64) -> String {
        let form = if n == 1 { "one" } else { "other" };
        self.text(&format!("{key}.{form}"), &[("n", &self.number(n))])
    }

    /// Formats a whole number with thousands separators.
    #[must_use]
    pub fn number(self, n: u64) -> String {
        let digits = n.to_string();
        let mut out = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                out.push(match self {
                    Self::En => ',',
                    Self::De => '.',
                });
            }
            out.push(digit);
        }
        out
    }

    /// Formats bytes as the command line does: `999 B`, `1.5 KiB`, `12 MiB`.
    #[must_use]
    pub fn size(self, bytes: u64) -> String {
        let text = cairn_model::size::binary_short(bytes);
        match self {
            Self::En => text,
            Self::De => text.replace('.', ","),
        }
    }

    /// Formats seconds, rounded: `45 s`, `12 min`, `3 h`.
    #[must_use]
    pub fn span(self, seconds: u64) -> String {
        match seconds {
            0..60 => format!("{seconds} s"),
            60..3600 => format!("{} min", seconds.div_ceil(60)),
            3600.. => format!("{} h", (seconds + 1800) / 3600),
        }
    }
}

/// Fills values into the slots of a text, such as `{name}`; `None` if a slot has no value. Each slot is filled once, from
/// left to right: a value may look like a slot.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> Option<String> {
    let mut rest = text;
    let mut filled = String::new();
    while let Some((before, slot_on)) = rest.split_once('{') {
        let (slot, after) = slot_on.split_once('}')?;
        let (_, value) = values.iter().find(|(name, _)| *name == slot)?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in braces of a text, sorted.
    fn slots(text: &str) -> Vec<&str> {
        let mut slots: Vec<&str> = text
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}').map(|(name, _)| name))
            .collect();
        slots.sort_unstable();
        slots
    }

    #[test]
    fn the_catalogues_have_the_same_keys_and_slots() {
        let (en, de) = (Language::En.catalogue(), Language::De.catalogue());
        assert!(en.len() > 100);
        assert_eq!(en.keys().collect::<Vec<_>>(), de.keys().collect::<Vec<_>>());
        for (key, text) in en {
            assert_eq!(slots(text), slots(&de[key]), "{key}");
        }
    }

    #[test]
    fn numbers_and_sizes_follow_the_language() {
        assert_eq!(Language::En.number(1_234_567), "1,234,567");
        assert_eq!(Language::De.number(1_234), "1.234");
        assert_eq!(Language::En.size(4_200_000), "4.0 MiB");
        assert_eq!(Language::De.size(4_200_000), "4,0 MiB");
        assert_eq!(Language::En.size(999), "999 B");
        assert_eq!(Language::En.size(1_048_575), "1.0 MiB");
        assert_eq!(Language::En.span(90), "2 min");
    }

    #[test]
    fn the_system_s_language_is_used_where_there_is_a_catalogue() {
        assert_eq!(Language::of_locale("de_AT.UTF-8"), Language::De);
        assert_eq!(Language::of_locale("fr-FR"), Language::En);
        assert_eq!(Language::of_locale("C"), Language::En);
    }
}
