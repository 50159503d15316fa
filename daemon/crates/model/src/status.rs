//! The states of links and webhooks, as the service reports them.

use crate::words::word_enum;

word_enum! {
    /// State of a link.
    ShareStatus("state of a link") {
        Active = "active",
        FileGone = "file_gone",
        MakerLeft = "maker_left",
        Deactivated = "deactivated",
        Expired = "expired",
        AtDownloadLimit = "at_download_limit",
        NotYetActive = "not_yet_active",
        ActiveWindowEnded = "active_window_ended",
    }
}

word_enum! {
    /// State of a webhook: its deliveries are attempted or not.
    WebhookStatus("state of a webhook") {
        Active = "active",
        /// No delivery is attempted and no new event is recorded; what waited goes on waiting.
        Disabled = "disabled",
    }
}
