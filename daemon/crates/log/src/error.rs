//! The errors of decoding and of checking signatures. The reason isn't named: whoever sends such bytes
//! is hostile or broken, and needs no help.

/// The reason why bytes were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Bytes that no writer makes, or a signature or proof that doesn't hold.
    #[error("the data was altered, or belongs elsewhere")]
    NotGenuine,
    #[error("this program can't read format {0}; update it")]
    UnsupportedFormat(u32),
    #[error("{0}")]
    InvalidInput(&'static str),
}

pub(crate) type Result<T> = std::result::Result<T, LogError>;

/// Refuses what doesn't hold, without naming the check.
pub(crate) fn require(holds: bool) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(LogError::NotGenuine)
    }
}
