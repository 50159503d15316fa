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
    /// A summary for the documentation.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::Shape;
    use cairn_wire::shares::{AccessMode, StorageType};
    use cairn_wire::social::{ReportReason, TipCurrency, Visibility};
    use cairn_wire::teams::TeamRole;
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    /// Checks that every choice of a parameter, wherever it occurs, is a value of the service's enum.
    fn check<T: DeserializeOwned>(name: &str) {
        let params = ALL.iter().flat_map(|set| set.tools);
        let params = params.flat_map(|tool| tool.params.iter().map(move |param| (tool, param)));
        let mut found = 0;
        for (tool, param) in params.filter(|(_, param)| param.name == name) {
            let Shape::Choice { of, .. } = param.shape else {
                continue;
            };
            for choice in of {
                let value = serde_json::from_value::<T>(Value::from(*choice));
                assert!(value.is_ok(), "{} {name}: {choice}", tool.name);
                found += 1;
            }
        }
        assert!(found > 1, "no tool has the parameter {name}");
    }

    #[test]
    fn choices_are_values_of_the_services_enums() {
        check::<AccessMode>("access_mode");
        check::<AccessMode>("default_access_mode");
        check::<StorageType>("storage_type");
        check::<TeamRole>("role");
        check::<Visibility>("visibility");
        check::<TipCurrency>("currency_type");
        check::<ReportReason>("reason");
    }
}
