//! Scopes: what a token allows.

use std::fmt;

const NAMES: [(&str, u8); 6] = [
    ("openid", 1),
    ("profile", 2),
    ("email", 4),
    ("offline_access", 8),
    ("files", 16),
    ("files.read", 32),
];

/// A set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scopes(u8);

impl Scopes {
    pub const OPENID: Self = Self(1);
    pub const PROFILE: Self = Self(2);
    pub const EMAIL: Self = Self(4);
    /// A refresh token.
    pub const OFFLINE: Self = Self(8);
    /// Everything that the account may do.
    pub const FILES: Self = Self(16);
    /// Everything that only looks.
    pub const READ: Self = Self(32);
    pub const ALL: Self = Self(63);
    /// The scopes of a client that asks for none.
    pub const DEFAULT: Self = Self(1 | 16);

    /// The names of all scopes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }

    /// Reads a list separated by spaces; `None` if it holds an unknown one.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_ascii_whitespace().try_fold(Self(0), |all, one| {
            let (_, bit) = NAMES.iter().find(|(name, _)| *name == one)?;
            Some(Self(all.0 | bit))
        })
    }

    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if a token with these scopes may be narrowed to others: who may do everything may also only
    /// look.
    pub fn covers(self, narrower: Self) -> bool {
        let with_reading = if self.has(Self::FILES) {
            Self(self.0 | Self::READ.0)
        } else {
            self
        };
        with_reading.has(narrower)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = NAMES
            .iter()
            .filter(|(_, bit)| self.0 & bit != 0)
            .map(|(name, _)| *name)
            .collect();
        f.write_str(&names.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_and_written_and_unknown_ones_refused() {
        let some = Scopes::parse("files openid  files").unwrap();
        assert_eq!(some.to_string(), "openid files");
        assert!(some.has(Scopes::FILES) && !some.has(Scopes::EMAIL));
        assert_eq!(Scopes::parse("openid admin"), None);
        assert!(Scopes::parse("").unwrap().is_empty());
        assert_eq!(Scopes::parse(&Scopes::ALL.to_string()), Some(Scopes::ALL));
    }

    #[test]
    fn everything_covers_looking_and_looking_covers_nothing_else() {
        assert!(Scopes::DEFAULT.covers(Scopes::READ));
        assert!(Scopes::DEFAULT.covers(Scopes::OPENID));
        assert!(!Scopes::DEFAULT.covers(Scopes::EMAIL));
        assert!(!Scopes::READ.covers(Scopes::FILES));
    }
}
