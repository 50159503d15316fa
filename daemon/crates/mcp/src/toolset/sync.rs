//! The sync daemon of this machine.

use crate::param::{choice, integer_in, non_empty, text};
use crate::sync_tools;
use crate::tool::{Effect, Run, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "sync_status",
        "Sync status",
        Effect::ReadOnly,
        "Shows the state of the synced folders, transfers and problems.",
        &[],
        Run::Custom(sync_tools::status),
    ),
    Tool::new(
        "sync_activity",
        "Sync activity",
        Effect::ReadOnly,
        "Lists what sync did last.",
        &[integer_in("limit", 1, 100, "Maximum number").or_number(20)],
        Run::Custom(sync_tools::activity),
    ),
    Tool::new(
        "sync_conflicts",
        "Sync conflicts",
        Effect::ReadOnly,
        "Lists files that were changed on two sides.",
        &[],
        Run::Custom(sync_tools::conflicts),
    ),
    Tool::new(
        "sync_resolve_conflict",
        "Resolve sync conflict",
        Effect::IdempotentDestructive,
        "Resolves a conflict.",
        &[
            non_empty("path", "From sync_conflicts").required(),
            choice(
                "keep",
                &["mine", "theirs", "both", "merge"],
                "mine: the version of this device; theirs: that of the other device",
            )
            .required(),
        ],
        Run::Custom(sync_tools::resolve),
    ),
    Tool::new(
        "sync_pause",
        "Pause sync",
        Effect::IdempotentAdditive,
        "Pauses sync of one folder, or all.",
        &[text("folder", "Local folder; all if omitted")],
        Run::Custom(sync_tools::pause),
    ),
    Tool::new(
        "sync_resume",
        "Resume sync",
        Effect::IdempotentAdditive,
        "Resumes sync of one folder, or all.",
        &[text("folder", "Local folder; all if omitted")],
        Run::Custom(sync_tools::resume),
    ),
];
