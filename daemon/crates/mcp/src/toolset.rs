//! The catalogue: every tool, in the order of the service's reference, in groups that can be
//! switched on and off.

mod account;
mod audit;
mod comments;
mod content;
mod diagnostics;
mod files;
mod local;
mod organize;
mod payments;
mod sharing;
mod social;
mod sync;
mod teams;
mod webhooks;

use crate::tool::Tool;

/// A group of tools.
pub(crate) struct Toolset {
    /// The value for `--toolsets`.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// A summary for the instructions and the documentation.
    pub(crate) description: &'static str,
    pub(crate) tools: &'static [Tool],
}

/// The id of the group for the sync daemon.
pub(crate) const SYNC: &str = "sync";

/// All groups, in order.
pub(crate) static ALL: &[Toolset] = &[
    Toolset {
        id: "files",
        title: "File management",
        description: "search, list, inspect, create, move, rename, copy and trash files and folders",
        tools: files::TOOLS,
    },
    Toolset {
        id: "organize",
        title: "Extended file management",
        description: "nested folders, trash, favorites, descriptions, versions, labels",
        tools: organize::TOOLS,
    },
    Toolset {
        id: "content",
        title: "File content",
        description: "read, download and upload end-to-end encrypted content (needs SERVICE_PASSPHRASE)",
        tools: content::TOOLS,
    },
    Toolset {
        id: "sharing",
        title: "Sharing",
        description: "share links: create, change, delete, mail, theme, access log",
        tools: sharing::TOOLS,
    },
    Toolset {
        id: "teams",
        title: "Teams",
        description: "teams, members, roles, quotas, permissions",
        tools: teams::TOOLS,
    },
    Toolset {
        id: "social",
        title: "Social",
        description: "profiles, follows, feed, tips, blocks, reports",
        tools: social::TOOLS,
    },
    Toolset {
        id: "payments",
        title: "Payments",
        description: "plan, AI tokens, wallet, coupons, spending alerts, creators",
        tools: payments::TOOLS,
    },
    Toolset {
        id: "account",
        title: "Account",
        description: "account, notifications, recovery key, deletion, email preferences, API keys",
        tools: account::TOOLS,
    },
    Toolset {
        id: "comments",
        title: "Comments",
        description: "comments on files and replies",
        tools: comments::TOOLS,
    },
    Toolset {
        id: "webhooks",
        title: "Webhooks and retention",
        description: "callbacks on events, deletion by age",
        tools: webhooks::TOOLS,
    },
    Toolset {
        id: "diagnostics",
        title: "Diagnostics",
        description: "why an upload, a link or the service does not work",
        tools: diagnostics::TOOLS,
    },
    Toolset {
        id: "local",
        title: "Local tools",
        description: "compute over results, write command lines; no call to the service",
        tools: local::TOOLS,
    },
    Toolset {
        id: "audit",
        title: "Audit",
        description: "who used a share link, by time, with a summary",
        tools: audit::TOOLS,
    },
    Toolset {
        id: SYNC,
        title: "Sync",
        description: "the sync daemon of this machine: state, activity, conflicts, pause; many moves at once, trash, undo",
        tools: sync::TOOLS,
    },
];
