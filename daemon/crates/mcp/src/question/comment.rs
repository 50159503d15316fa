//! The question before a comment is deleted.

use super::{Asking, file, quote, text};
use crate::call::Call;
use crate::tool::Verb;
use futures_util::FutureExt as _;

pub(crate) fn delete_comment(call: &Call) -> Asking<'_> {
    async move {
        let id = call.arguments.text("comment_id").unwrap_or_default();
        let comment = call.request(Verb::Get, &["comments", id], &[], None).await;
        let comment = comment.unwrap_or_default();
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
