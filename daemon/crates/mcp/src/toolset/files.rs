//! Files and folders: search, list, create, move.

use crate::node_tools;
use crate::param::{PAGE, PAGE_SIZE, choice, date_time, flag, node, non_empty, text};
use crate::question;
use crate::search;
use crate::tool::{Effect, NodeEdit, Run, Tool, Undo, get};
use cairn_model::SearchMode;
use cairn_wire::nodes::NodeOrder;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "search_files",
        "Search files",
        Effect::ReadOnly,
        "Searches for files and folders, such as documents, photos or PDFs, by name and metadata.",
        &[
            text("query", "Text to find").length(2, usize::MAX).required(),
            choice(
                "mode",
                SearchMode::TEXTS,
                "quick: by name; filtered: with the filters below; content: also descriptions, labels and tags",
            )
            .or("quick"),
            text("category", "Such as image or document"),
            text("ext", "File extension"),
            date_time("date_from", "Created after; ISO 8601"),
            date_time("date_to", "Created before; ISO 8601"),
            PAGE,
            PAGE_SIZE,
            flag("include_teams", "Include team spaces"),
        ],
        Run::Custom(search::search_files),
    ),
    Tool::new(
        "list_files",
        "List files",
        Effect::ReadOnly,
        "Lists the contents of a folder (directory).",
        &[
            node("folder_uuid", "Folder; the root if omitted; a team id is the team's root"),
            PAGE,
            PAGE_SIZE,
            choice("sort_by", NodeOrder::TEXTS, "size: largest first; date: newest first"),
        ],
        Run::Custom(node_tools::list_files),
    ),
    Tool::new(
        "get_file_info",
        "Get file info",
        Effect::ReadOnly,
        "Shows details of a file or folder: name, size, type, tags, labels, when it was created.",
        &[node("file_uuid", "File or folder").required()],
        Run::Rest(get("nodes/{file_uuid}")),
    )
    .shows_details(),
    Tool::new(
        "create_folder",
        "Create folder",
        Effect::Additive,
        "Creates a new folder (directory); returns it with its UUID.",
        &[
            non_empty("name", "Folder name").required(),
            node("parent_uuid", "Parent folder; the root if omitted"),
        ],
        Run::Custom(node_tools::create_folder),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::NewFolders),
    Tool::new(
        "move_file",
        "Move file",
        Effect::IdempotentDestructive,
        "Moves a file or folder into another folder.",
        &[
            node("file_uuid", "File or folder").required(),
            node("target_folder_uuid", "Target folder; a space or team id is its root").required(),
        ],
        Run::Custom(node_tools::move_file),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::Node(NodeEdit::Move)),
    Tool::new(
        "rename_file",
        "Rename file",
        Effect::IdempotentDestructive,
        "Renames a file or folder.",
        &[
            node("file_uuid", "File or folder").required(),
            non_empty("new_name", "New name").required(),
        ],
        Run::Custom(node_tools::rename_file),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::Node(NodeEdit::Move)),
    Tool::new(
        "copy_file",
        "Copy file",
        Effect::Additive,
        "Copies (duplicates) a file, or a folder with everything in it, in one step.",
        &[
            node("file_uuid", "File or folder").required(),
            node("target_folder_uuid", "Target folder; a space or team id is its root").required(),
        ],
        Run::Custom(node_tools::copy_file),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::NewCopy),
    Tool::new(
        "delete_file",
        "Delete file",
        Effect::IdempotentDestructive,
        "Deletes (removes) a file or folder: it goes to the trash; restore_from_trash brings it back.",
        &[node("file_uuid", "File or folder").required()],
        Run::Custom(node_tools::delete_file),
    )
    .undone_as(Undo::Node(NodeEdit::Trash)),
];
