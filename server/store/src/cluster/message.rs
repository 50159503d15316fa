//! The news of a transaction for the other servers on the database.

use serde::{Deserialize, Serialize};

/// A notification has room for 8,000 bytes.
const MOST_SPACES: usize = 350;

/// The news of one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The server that sends it.
    #[serde(default)]
    pub(crate) from: String,
    /// The rows of the spaces that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) spaces: Vec<i64>,
    /// True if there are deliveries of webhooks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deliveries: bool,
    /// True if there are mails.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) mails: bool,
    /// True if more has changed than a notification has room for, up to the history that positions belong to.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) everything: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Message {
    /// Returns the message that wakes everybody.
    pub(crate) fn of_everything() -> Self {
        Self {
            everything: true,
            ..Self::default()
        }
    }

    /// Returns true if there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.spaces.is_empty() && !self.deliveries && !self.mails && !self.everything
    }

    /// Returns the text of the message of one server.
    pub(super) fn write(mut self, from: &str) -> String {
        from.clone_into(&mut self.from);
        if self.spaces.len() > MOST_SPACES {
            self.spaces.clear();
            self.everything = true;
        }
        // A message of numbers and flags can be written; an empty text would wake everybody.
        serde_json::to_string(&self).unwrap_or_default()
    }

    /// Reads a message; `None` for what is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_changed_or_that_everything_may_have() {
        let news = Message {
            spaces: vec![1, 2],
            deliveries: true,
            ..Message::default()
        };
        let text = news.clone().write("me");
        let read = Message::parse(&text).unwrap();
        assert_eq!(read.spaces, [1, 2]);
        assert!(read.deliveries && !read.mails && read.from == "me");
        let many = Message {
            spaces: (0..5_000).map(|row| i64::MAX - row).collect(),
            ..news
        };
        let text = many.write("me");
        assert!(text.len() < 8_000 && Message::parse(&text).unwrap().everything);
        let most = Message {
            spaces: vec![i64::MIN; MOST_SPACES],
            ..Message::default()
        };
        assert!(most.write("0123456789abcdef").len() < 8_000);
        assert_eq!(Message::parse("nonsense"), None);
        assert!(Message::default().is_empty());
    }
}
