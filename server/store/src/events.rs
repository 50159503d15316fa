//! Events for those outside: the event kinds of the webhooks, and one's own notifications.
//!
//! Both are raised inside the transaction that made them true, so that nothing is told that did
//! not happen and nothing that happened is left untold.

use crate::Tx;
use crate::error::Result;
use cairn_model::AccountId;
use cairn_wire::nodes::Node;
use cairn_wire::webhooks::WebhookEvent;
use serde_json::{Value, json};

/// The event types of the REST document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
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
    /// Every kind, at the place that its number names; the order never changes, for the store keeps
    /// numbers.
    const ALL: [Self; 12] = [
        Self::FileUploaded,
        Self::FileDownloaded,
        Self::FileDeleted,
        Self::FileMoved,
        Self::FileRenamed,
        Self::ShareCreated,
        Self::ShareAccessed,
        Self::ShareDownloaded,
        Self::ShareRevoked,
        Self::TeamMemberJoined,
        Self::TeamMemberLeft,
        Self::WebhookTest,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
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

    /// Its number in the store.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The kind with a number, if there is one.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Its bit in a webhook's subscription.
    pub fn bit(self) -> u32 {
        1 << self.number()
    }

    /// The kinds of a subscription.
    pub fn of_bits(bits: u32) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |kind| bits & kind.bit() != 0)
    }

    /// The type of the contract.
    pub fn on_wire(self) -> WebhookEvent {
        match self {
            Self::FileUploaded => WebhookEvent::FileUploaded,
            Self::FileDownloaded => WebhookEvent::FileDownloaded,
            Self::FileDeleted => WebhookEvent::FileDeleted,
            Self::FileMoved => WebhookEvent::FileMoved,
            Self::FileRenamed => WebhookEvent::FileRenamed,
            Self::ShareCreated => WebhookEvent::ShareCreated,
            Self::ShareAccessed => WebhookEvent::ShareAccessed,
            Self::ShareDownloaded => WebhookEvent::ShareDownloaded,
            Self::ShareRevoked => WebhookEvent::ShareRevoked,
            Self::TeamMemberJoined => WebhookEvent::TeamMemberJoined,
            Self::TeamMemberLeft => WebhookEvent::TeamMemberLeft,
            Self::WebhookTest => WebhookEvent::WebhookTest,
        }
    }

    /// The kind of a type of the contract.
    pub fn of_wire(event: WebhookEvent) -> Self {
        match event {
            WebhookEvent::FileUploaded => Self::FileUploaded,
            WebhookEvent::FileDownloaded => Self::FileDownloaded,
            WebhookEvent::FileDeleted => Self::FileDeleted,
            WebhookEvent::FileMoved => Self::FileMoved,
            WebhookEvent::FileRenamed => Self::FileRenamed,
            WebhookEvent::ShareCreated => Self::ShareCreated,
            WebhookEvent::ShareAccessed => Self::ShareAccessed,
            WebhookEvent::ShareDownloaded => Self::ShareDownloaded,
            WebhookEvent::ShareRevoked => Self::ShareRevoked,
            WebhookEvent::TeamMemberJoined => Self::TeamMemberJoined,
            WebhookEvent::TeamMemberLeft => Self::TeamMemberLeft,
            WebhookEvent::WebhookTest => Self::WebhookTest,
        }
    }
}

/// Returns the data about a node that its events carry. `folder_id` at the top of a space is the
/// space's id.
pub fn about_node(node: &Node) -> Value {
    json!({
        "file_id": node.id,
        "file_name": node.name,
        "folder_id": folder_of(node),
        "size_bytes": node.size,
        "kind": node.kind,
    })
}

/// Returns the place of a node: its folder, or its space.
fn folder_of(node: &Node) -> String {
    node.parent_id
        .map_or_else(|| node.space_id.to_string(), |folder| folder.to_string())
}

impl Tx<'_> {
    /// Raises an event for `account`: its webhooks will hear of it once this is committed.
    pub fn emit(&self, account: AccountId, kind: EventKind, data: &Value) -> Result<()> {
        self.emit_with(account, kind, || data.clone())
    }

    /// `file.uploaded`: exactly the fields that the contract names.
    pub fn emit_upload(&self, account: AccountId, node: &Node) -> Result<()> {
        self.emit_with(account, EventKind::FileUploaded, || {
            json!({
                "file_id": node.id,
                "file_name": node.name,
                "folder_id": folder_of(node),
                "size_bytes": node.size,
            })
        })
    }

    /// `file.moved` and `file.renamed`, as far as an edit was one.
    pub fn emit_edit(&self, account: AccountId, old: &Node, new: &Node) -> Result<()> {
        if old.parent_id != new.parent_id {
            self.emit_with(account, EventKind::FileMoved, || {
                let mut data = about_node(new);
                data["from_folder_id"] = json!(folder_of(old));
                data
            })?;
        }
        if old.name != new.name {
            self.emit_with(account, EventKind::FileRenamed, || {
                let mut data = about_node(new);
                data["old_name"] = json!(old.name);
                data
            })?;
        }
        Ok(())
    }

    /// Leaves a notification for `account`; `kind` is one of the types that
    /// `wire::notifications` lists.
    pub fn notify(&self, account: AccountId, kind: &str, title: &str, data: &Value) -> Result<()> {
        self.add_notification(account, kind, title, data)
    }
}
