//! The events of an account, as webhooks deliver them.

use crate::words::word_enum;

word_enum! {
    /// The kind of an event. The order never changes: the server keeps each kind as its number in it.
    EventKind("event") {
        FileUploaded = "file.uploaded",
        FileDownloaded = "file.downloaded",
        FileDeleted = "file.deleted",
        FileMoved = "file.moved",
        FileRenamed = "file.renamed",
        ShareCreated = "share.created",
        ShareAccessed = "share.accessed",
        ShareDownloaded = "share.downloaded",
        ShareRevoked = "share.revoked",
        TeamMemberJoined = "team.member_joined",
        TeamMemberLeft = "team.member_left",
        /// Raised by hand, to see whether an address can be reached.
        WebhookTest = "webhook.test",
    }
}

word_enum! {
    /// The state of an event on its way to one webhook.
    DeliveryState("state of a delivery") {
        /// No attempt was made yet.
        Pending = "pending",
        /// An attempt failed; another one is to come.
        Retrying = "retrying",
        Delivered = "delivered",
        /// Every attempt failed; it can be retried by hand.
        Failed = "failed",
    }
}

impl EventKind {
    /// Returns the number by which the server keeps the kind.
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Returns the kind with a number, if there is one.
    #[must_use]
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Returns the kind's bit in a webhook's subscription.
    #[must_use]
    pub fn bit(self) -> u32 {
        1 << self.number()
    }

    /// Returns the kinds of a subscription.
    pub fn of_bits(bits: u32) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |kind| bits & kind.bit() != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subscriptions and deliveries that are stored somewhere name the kinds by these numbers.
    #[test]
    fn a_kind_keeps_its_number() {
        assert_eq!(EventKind::FileUploaded.number(), 0);
        assert_eq!(EventKind::ShareCreated.number(), 5);
        assert_eq!(EventKind::WebhookTest.number(), 11);
        assert_eq!(EventKind::of(6), Some(EventKind::ShareAccessed));
        assert_eq!(EventKind::of(12), None);
        let both: Vec<_> = EventKind::of_bits(0b1000_0000_0100).collect();
        assert_eq!(both, [EventKind::FileDeleted, EventKind::WebhookTest]);
    }
}
