//! Comments on files.

use crate::param::{Param, said, uuid};
use crate::tool::{Effect, Run, Tool, delete, get, post};

const FILE: Param = uuid("file_uuid", "File or folder").required();
const TEXT: Param = said("text", "What to say").length(1, 5000).required();

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "add_comment",
        "Add comment",
        Effect::Adds,
        "Comments on a file.",
        &[FILE, TEXT],
        Run::Rest(post("nodes/{file_uuid}/comments")),
    ),
    Tool::new(
        "list_comments",
        "List comments",
        Effect::Reads,
        "Lists comments with replies, oldest first.",
        &[FILE],
        Run::Rest(get("nodes/{file_uuid}/comments")),
    ),
    Tool::new(
        "reply_to_comment",
        "Reply to comment",
        Effect::Adds,
        "Replies to a comment.",
        &[FILE, said("parent_id", "Comment").required(), TEXT],
        Run::Rest(post("nodes/{file_uuid}/comments/{parent_id}/replies")),
    ),
    Tool::new(
        "delete_comment",
        "Delete comment",
        Effect::Replaces,
        "Deletes a comment of your own for good.",
        &[said("comment_id", "Comment").required()],
        Run::Rest(delete("comments/{comment_id}").done("the comment is deleted")),
    )
    .confirmed(),
];
