//! The treatment of texts that other people wrote, as the settings of the server choose it.

/// The treatment of texts that other people wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ForeignTexts {
    /// The assistant gets them, marked as data.
    #[default]
    Fenced,
    /// The assistant gets none of them.
    Withheld,
}
