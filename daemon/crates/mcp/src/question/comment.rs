//! The question before a comment is deleted.

use super::{Asking, file, known, own_id, quote, text};
use crate::call::Call;
use crate::error::ToolError;
use futures_util::FutureExt as _;

pub(crate) fn delete_comment(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("comment_id").unwrap_or_default();
        let comment = known::look_up(call, &["comments", id], ("comment_id", id)).await?;
        call.subject.note(id, comment["body"].clone());
        let author = text(&comment["author"], "id");
        if author.is_some() && own_id(call).await.is_some_and(|own| author != Some(own)) {
            return Err(ToolError::refused("only its author can delete a comment"));
        }
        let Some(written) = text(&comment, "body").filter(|text| !text.is_empty()) else {
            return Ok(Some(format!(
                "Delete the comment {} permanently?",
                quote(id)
            )));
        };
        let on = match text(&comment, "file_id") {
            Some(node) => format!(" on {}", file(call, Some(&node)).await),
            None => String::new(),
        };
        Ok(Some(format!(
            "Delete your comment {}{on} permanently?",
            quote(&written)
        )))
    }
    .boxed()
}
