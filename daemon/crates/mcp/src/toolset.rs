//! The catalogue: every tool, in the order of the service's own reference, in groups that can be
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
    /// As `--toolsets` takes it.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// For the map in the instructions, and the documentation.
    pub(crate) about: &'static str,
    pub(crate) tools: &'static [Tool],
}

/// The group that is there only while a sync daemon runs.
pub(crate) const SYNC: &str = "sync";

/// All groups in order.
pub(crate) static ALL: &[Toolset] = &[
    Toolset {
        id: "files",
        title: "File management",
        about: "search, list, look at, make, move, rename, copy and trash files and folders",
        tools: files::TOOLS,
    },
    Toolset {
        id: "organize",
        title: "Extended file management",
        about: "nested folders, trash, favorites, descriptions, versions, labels",
        tools: organize::TOOLS,
    },
    Toolset {
        id: "content",
        title: "File content",
        about: "read, download and upload end-to-end encrypted content (needs SERVICE_PASSPHRASE)",
        tools: content::TOOLS,
    },
    Toolset {
        id: "sharing",
        title: "Sharing",
        about: "share links: make, change, delete, mail, theme, access log",
        tools: sharing::TOOLS,
    },
    Toolset {
        id: "teams",
        title: "Teams",
        about: "teams, members, roles, quotas, permissions",
        tools: teams::TOOLS,
    },
    Toolset {
        id: "social",
        title: "Social",
        about: "profiles, follows, feed, tips, blocks, reports",
        tools: social::TOOLS,
    },
    Toolset {
        id: "payments",
        title: "Payments",
        about: "plan, AI tokens, wallet, coupons, spending alerts, creators",
        tools: payments::TOOLS,
    },
    Toolset {
        id: "account",
        title: "Account",
        about: "account, notifications, recovery key, deletion, email preferences, API keys",
        tools: account::TOOLS,
    },
    Toolset {
        id: "comments",
        title: "Comments",
        about: "comments on files and replies",
        tools: comments::TOOLS,
    },
    Toolset {
        id: "webhooks",
        title: "Webhooks and retention",
        about: "callbacks on events, deletion by age",
        tools: webhooks::TOOLS,
    },
    Toolset {
        id: "diagnostics",
        title: "Diagnostics",
        about: "why an upload, a link or the service does not work",
        tools: diagnostics::TOOLS,
    },
    Toolset {
        id: "local",
        title: "Local tools",
        about: "compute over results, write command lines; no call to the service",
        tools: local::TOOLS,
    },
    Toolset {
        id: "audit",
        title: "Audit",
        about: "who used a share link, by time, with a summary",
        tools: audit::TOOLS,
    },
    Toolset {
        id: SYNC,
        title: "Sync",
        about: "the sync daemon of this machine: state, activity, conflicts, pause",
        tools: sync::TOOLS,
    },
];
