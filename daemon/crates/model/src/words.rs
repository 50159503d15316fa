//! The macro behind every enum whose values have a fixed text, in JSON, in the database and on screen.

/// A text that names no value of an enum.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a {what}")]
pub struct UnknownWord {
    pub what: &'static str,
    pub text: String,
}

/// Declares an enum with one text per value: `as_str`, `Display`, `FromStr` and serde agree on it.
macro_rules! word_enum {
    ($(#[$meta:meta])* $name:ident ($what:literal) {
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug,
            serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "ts-rs", derive(ts_rs::TS))]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// All values, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The texts of all values, in the same order.
            pub const TEXTS: &'static [&'static str] = &[$($text),+];

            /// Returns the text that stands for the value everywhere outside the program.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|value| value.as_str() == text)
                    .ok_or_else(|| $crate::words::UnknownWord {
                        what: $what,
                        text: text.to_owned(),
                    })
            }
        }
    };
}

pub(crate) use word_enum;
