//! Extended file management: trash, versions, favourites, descriptions, labels.

use crate::classify;
use crate::empty_trash;
use crate::file_versions;
use crate::node_tools;
use crate::param::{SKIP, choice, labels, must_accept, node, non_empty, text, uuid};
use crate::question;
use crate::tool::{Effect, NodeEdit, Run, Tool, Undo, put};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "create_nested_folders",
        "Create nested folders",
        Effect::Additive,
        "Creates every missing folder of a path; returns them and the UUID of the last.",
        &[
            non_empty("path", "Such as a/b/c, at most 20 levels").required(),
            node(
                "parent_uuid",
                "Folder where the path starts; the root if omitted",
            ),
        ],
        Run::Custom(node_tools::create_nested_folders),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::NewFolders),
    Tool::new(
        "restore_from_trash",
        "Restore from trash",
        Effect::IdempotentAdditive,
        "Recovers (undeletes) a trashed file or folder: puts it back where it was.",
        &[uuid("file_uuid", "File or folder").required()],
        Run::Custom(node_tools::restore_from_trash),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::Node(NodeEdit::Restore)),
    Tool::new(
        "empty_trash",
        "Empty trash",
        Effect::IdempotentDestructive,
        "Deletes everything in the trash (bin) of your account permanently; can't be undone.",
        &[],
        Run::Custom(empty_trash::empty_trash),
    )
    .confirmed_with(question::empty_trash),
    Tool::new(
        "favorite_file",
        "Favorite file",
        Effect::IdempotentAdditive,
        "Marks a file or folder as favorite (star), or removes the mark.",
        &[
            node("file_uuid", "File or folder").required(),
            choice("action", &["add", "remove"], "Operation").required(),
        ],
        Run::Custom(node_tools::favorite_file),
    )
    .undone_as(Undo::Node(NodeEdit::Details)),
    Tool::new(
        "set_file_description",
        "Set file description",
        Effect::IdempotentDestructive,
        "Sets the description of a file or folder, a note about it.",
        &[
            node("file_uuid", "File or folder").required(),
            text("description", "Empty clears it").required(),
        ],
        Run::Rest(put("nodes/{file_uuid}")),
    )
    .undone_as(Undo::Node(NodeEdit::Details)),
    Tool::new(
        "get_file_versions",
        "Get file versions",
        Effect::ReadOnly,
        "Lists the history of a file: stored versions with ids, times, sizes and uploaders.",
        &[node("file_uuid", "File").required(), SKIP],
        Run::Custom(file_versions::get_file_versions),
    ),
    Tool::new(
        "restore_file_version",
        "Restore file version",
        Effect::IdempotentDestructive,
        "Goes back to an older version (revision) of a file; the previous one stays in the history.",
        &[
            node("file_uuid", "File").required(),
            non_empty("version_id", "Its id or number").required(),
        ],
        Run::Custom(node_tools::restore_file_version),
    )
    .never_unasked(question::hidden_place)
    .undone_as(Undo::Node(NodeEdit::Content)),
    Tool::new(
        "classify_file",
        "Classify file",
        Effect::IdempotentDestructive,
        "Sets the labels of a file or folder.",
        &[
            node("file_uuid", "File or folder").required(),
            labels("labels", "Key-value pairs, such as {\"project\": \"x\"}").required(),
        ],
        Run::Rest(put("nodes/{file_uuid}")),
    )
    .undone_as(Undo::Node(NodeEdit::Details)),
    Tool::new(
        "auto_classify_folder",
        "Auto-classify folder",
        Effect::Destructive,
        "Labels (categorizes) every file in a folder by AI, from extension and metadata. Uses tokens: 100 files a month on Standard, 1000 on Professional, no limit on Premium.",
        &[
            node("folder_uuid", "Folder").required(),
            must_accept("confirm_token_use", "Must be true: tokens are used").required(),
        ],
        Run::Custom(classify::auto_classify_folder),
    )
    .undone_as(Undo::NotedByTool),
];
