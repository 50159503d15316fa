//! Comments on files.

use crate::param::{Param, SKIP, node, non_empty};
use crate::question;
use crate::tool::{Effect, Run, Tool, delete, get, post};

const FILE: Param = node("file_uuid", "File or folder").required();
const TEXT: Param = non_empty("text", "Text of the comment")
    .length(1, 5000)
    .required();

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "add_comment",
        "Add comment",
        Effect::Additive,
        "Adds a comment to a file.",
        &[FILE, TEXT],
        Run::Rest(post("nodes/{file_uuid}/comments")),
    ),
    Tool::new(
        "list_comments",
        "List comments",
        Effect::ReadOnly,
        "Reads the comments on a file with replies, oldest first.",
        &[FILE, SKIP],
        Run::AllPages(get("nodes/{file_uuid}/comments")),
    )
    .newest_last(),
    Tool::new(
        "reply_to_comment",
        "Reply to comment",
        Effect::Additive,
        "Replies to a comment.",
        &[FILE, non_empty("parent_id", "Comment").required(), TEXT],
        Run::Rest(post("nodes/{file_uuid}/comments/{parent_id}/replies")),
    ),
    Tool::new(
        "delete_comment",
        "Delete comment",
        Effect::IdempotentDestructive,
        "Deletes a comment of your own for good.",
        &[non_empty("comment_id", "Comment").required()],
        Run::Rest(delete("comments/{comment_id}").success_message("the comment is deleted")),
    )
    .confirmed_with(question::delete_comment),
];
