//! The sync daemon of this machine; there only while one runs.

use crate::param::{between, choice, said, text};
use crate::sync_tools;
use crate::tool::{Effect, Run, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "sync_status",
        "Sync status",
        Effect::Reads,
        "Shows the state of the synced folders, transfers and problems.",
        &[],
        Run::Own(sync_tools::status),
    ),
    Tool::new(
        "sync_activity",
        "Sync activity",
        Effect::Reads,
        "Shows what sync did last.",
        &[between("limit", 1, 100, "How many").or_number(20)],
        Run::Own(sync_tools::activity),
    ),
    Tool::new(
        "sync_conflicts",
        "Sync conflicts",
        Effect::Reads,
        "Lists files that were changed on two sides.",
        &[],
        Run::Own(sync_tools::conflicts),
    ),
    Tool::new(
        "sync_resolve_conflict",
        "Resolve sync conflict",
        Effect::Replaces,
        "Settles a conflict.",
        &[
            said("path", "From sync_conflicts").required(),
            choice(
                "keep",
                &["mine", "theirs", "both", "merge"],
                "mine: the copy made here; theirs: the other device's",
            )
            .required(),
        ],
        Run::Own(sync_tools::resolve),
    ),
    Tool::new(
        "sync_pause",
        "Pause sync",
        Effect::Sets,
        "Pauses sync of one folder, or all.",
        &[text("folder", "Local folder; all if omitted")],
        Run::Own(sync_tools::pause),
    ),
    Tool::new(
        "sync_resume",
        "Resume sync",
        Effect::Sets,
        "Goes on with sync.",
        &[text("folder", "Local folder; all if omitted")],
        Run::Own(sync_tools::resume),
    ),
];
