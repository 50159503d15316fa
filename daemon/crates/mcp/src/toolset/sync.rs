//! The sync daemon of this machine.

use crate::content;
use crate::move_files;
use crate::param::{SKIP, choice, date_time, flag, integer_in, node, nodes, non_empty, text};
use crate::question;
use crate::rewind;
use crate::session_undo;
use crate::sync_tools;
use crate::tool::{Effect, Run, Tool, Undo};
use crate::trash_list;
use cairn_model::{DeletionDecision, Keep};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "sync_status",
        "Sync status",
        Effect::ReadOnly,
        "Shows whether everything is synced and what is not: connection, account, device, folders, transfers, problems, deletions that wait for a decision, open conflicts.",
        &[],
        Run::Custom(sync_tools::status),
    ),
    Tool::new(
        "sync_activity",
        "Sync activity",
        Effect::ReadOnly,
        "Lists what sync changed, newest first, with the device that made each change.",
        &[
            integer_in("limit", 1, 100, "Maximum number").or_number(20),
            date_time("since", "ISO 8601"),
            text("device", "Such as Laptop, from sync_devices"),
        ],
        Run::Custom(sync_tools::activity),
    ),
    Tool::new(
        "sync_conflicts",
        "Sync conflicts",
        Effect::ReadOnly,
        "Lists conflicting files, changed on two devices, with the local paths of both versions.",
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
                Keep::TEXTS,
                "copy: the conflict copy; original: what has the name",
            )
            .required(),
        ],
        Run::Custom(sync_tools::resolve),
    ),
    Tool::new(
        "sync_now",
        "Sync now",
        Effect::IdempotentAdditive,
        "Looks for changes on both sides now; with wait_seconds, returns when they are the same.",
        &[
            text("folder", "Local folder; all if omitted"),
            integer_in("wait_seconds", 0, 50, "Longest wait").or_number(0),
        ],
        Run::Custom(sync_tools::now),
    ),
    Tool::new(
        "sync_confirm",
        "Confirm changes",
        Effect::IdempotentDestructive,
        "Decides deletions, or overwriting by encrypted files, that wait (sync_status).",
        &[
            non_empty("folder", "Local folder").required(),
            choice(
                "answer",
                DeletionDecision::TEXTS,
                "delete: on the other side too, here or on the service; overwrite: on the service; keep: bring the files back",
            )
            .required(),
        ],
        Run::Custom(sync_tools::confirm),
    )
    .asking(sync_tools::held_changes),
    Tool::new(
        "sync_locate",
        "Locate synced file",
        Effect::ReadOnly,
        "Finds a file by its path on this machine or on the service; returns it with its UUID and both paths.",
        &[non_empty("path", "Such as ~/Docs/a.txt or /docs/a.txt").required()],
        Run::Custom(sync_tools::locate),
    ),
    Tool::new(
        "sync_why",
        "Why a file is not synced",
        Effect::ReadOnly,
        "Tells whether a path is in sync, or why not: ignored by which rule, conflict, waiting, failed with which error, not selected.",
        &[non_empty("path", "Such as ~/Docs/a.txt, /docs/a.txt").required()],
        Run::Custom(sync_tools::why),
    ),
    Tool::new(
        "sync_devices",
        "Sync devices",
        Effect::ReadOnly,
        "Lists the devices of the account (laptop, phone) and when each was last seen.",
        &[],
        Run::Custom(sync_tools::devices),
    ),
    Tool::new(
        "sync_doctor",
        "Sync doctor",
        Effect::ReadOnly,
        "Shows the daemon's version, server, connection and what keeps it from noticing changes.",
        &[],
        Run::Custom(sync_tools::doctor),
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
    Tool::new(
        "move_files",
        "Move many files",
        Effect::IdempotentDestructive,
        "Moves many files or folders, up to 100 at once, into one folder, which may be new.",
        &[
            nodes("file_uuids", 100, "Files or folders").required(),
            node(
                "target_folder_uuid",
                "Target folder; a space or team id is its root",
            )
            .required(),
            text(
                "new_path",
                "Path below the target, such as 2026/03; made where missing",
            ),
        ],
        Run::Custom(move_files::move_files),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::NotedByTool),
    Tool::new(
        "read_file_version",
        "Read old version",
        Effect::ReadOnly,
        "Opens an old revision of a file, as read_file_content does the present one.",
        &[
            node("file_uuid", "File").required(),
            non_empty("version_id", "Its id or number").required(),
            choice("encoding", &["text", "base64"], "As in read_file_content").or("text"),
        ],
        Run::Custom(content::read),
    )
    .returns_content(),
    Tool::new(
        "sync_rewind",
        "Rewind folder",
        Effect::IdempotentDestructive,
        "Brings a folder or file back to what it was at a time. Returns the plan; only carry_out changes anything.",
        &[
            non_empty("path", "Such as ~/Docs, /docs or Team/docs").required(),
            non_empty("to", "ISO 8601, or 2h ago").required(),
            flag("carry_out", "Carry the plan out"),
        ],
        Run::Custom(rewind::rewind),
    )
    .carried_out_by("carry_out")
    .asking(rewind::question_of),
    Tool::new(
        "list_trash",
        "List trash",
        Effect::ReadOnly,
        "Lists deleted files, newest first, with their former paths; restore_from_trash brings them back.",
        &[
            integer_in("limit", 1, 100, "Maximum number").or_number(20),
            SKIP,
        ],
        Run::Custom(trash_list::list_trash),
    ),
    Tool::new(
        "undo_session",
        "Undo session",
        Effect::IdempotentDestructive,
        "Takes back this session's moves, renames, deletions, restores, restored versions, copies, new folders, descriptions, labels, favorites and links, newest first, where nothing newer stands in the way. Without changes of its own it lists earlier sessions.",
        &[text(
            "session",
            "Id from earlier_sessions; this session if omitted",
        )],
        Run::Custom(session_undo::undo_session),
    )
    .asking(session_undo::question_of),
];
