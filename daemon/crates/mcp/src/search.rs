//! Search by name and metadata. Contents are sealed for the service, which can't look into them.

use crate::call::Call;
use crate::tool::{ToolFuture, get};
use futures_util::FutureExt as _;
use serde_json::json;

/// The note beside what a search of contents found.
const NOT_CONTENTS: &str = "names, descriptions, labels and tags were searched: the service can't read the contents of files; download or read those in question";

pub(crate) fn search_files(call: Call) -> ToolFuture {
    async move {
        let mut found = call.send(&get("search")).await?;
        if call.arguments.text("mode") == Some("content")
            && let Some(fields) = found.as_object_mut()
        {
            fields.insert("note".to_owned(), json!(NOT_CONTENTS));
        }
        Ok(found)
    }
    .boxed()
}
