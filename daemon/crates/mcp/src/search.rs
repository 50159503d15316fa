//! Search by name and metadata. Contents are sealed for the service, which can't look into them, and so are names in
//! private spaces.

use crate::call::Call;
use crate::tool::{ToolFuture, get};
use futures_util::FutureExt as _;
use serde_json::json;

/// The note beside what a search of contents found.
const NOT_CONTENTS: &str = "names, descriptions, labels and tags were searched: the service can't read the contents of files; download or read those in question";

/// The note beside what was found for an account with private spaces.
const NOT_PRIVATE: &str = "private spaces were not searched: the service has no names of what is in them; look there with list_files, whose folder_uuid is the id of the team (list_teams)";

pub(crate) fn search_files(call: Call) -> ToolFuture {
    async move {
        let mut found = call.send(&get("search")).await?;
        let mut notes = Vec::new();
        if call.arguments.text("mode") == Some("content") {
            notes.push(NOT_CONTENTS);
        }
        // What was found stays good without the list.
        let teams = call.services.teams().await.unwrap_or_default();
        if teams.iter().any(|team| team.space_id.is_private()) {
            notes.push(NOT_PRIVATE);
        }
        if !notes.is_empty()
            && let Some(fields) = found.as_object_mut()
        {
            fields.insert("note".to_owned(), json!(notes.join(". ")));
        }
        Ok(found)
    }
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_services::{call_of, stub_services};
    use cairn_model::{AccountId, SpaceId, TeamId};
    use serde_json::Value;

    async fn note_with(space: SpaceId) -> Value {
        let services = stub_services(move |request| {
            let page = |content: Value| json!({ "content": content, "totalPages": 1, "totalElements": 1, "page": 1, "pageSize": 100 });
            let team = json!({
                "id": TeamId::from_random_bytes([1; 16]), "name": "Private", "role": "owner",
                "owner_id": AccountId::from_random_bytes([2; 16]), "owner_name": "Ada", "member_count": 1,
                "space_id": space, "key_epoch": 1, "created_at": "2026-01-02T03:04:05.000Z",
            });
            match request.path.contains("/teams") {
                true => (200, page(json!([team]))),
                false => (200, page(json!([]))),
            }
        });
        let call = call_of(services, json!({ "query": "plan" }));
        search_files(call).await.unwrap()["note"].clone()
    }

    #[tokio::test]
    async fn a_search_says_that_it_leaves_out_private_spaces() {
        let private = SpaceId::private_from_random_bytes([3; 16]);
        assert_eq!(note_with(private).await, NOT_PRIVATE);
        let open = SpaceId::from_random_bytes([3; 16]);
        assert_eq!(note_with(open).await, Value::Null);
    }
}
