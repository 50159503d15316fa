//! The versions of a file: listing them, and finding the one that a person means.

use super::Remote;
use crate::failure::{CommandResult, Context as _, Failure};
use cairn_model::{Kind, RevisionId};
use cairn_wire::nodes::{Node, Revision};

/// Digits of an id that name a version.
const MIN_PREFIX: usize = 4;

impl Remote {
    /// Lists the versions of a file, which a person calls `text`.
    pub(crate) async fn revisions(&self, node: &Node, text: &str) -> CommandResult<Vec<Revision>> {
        if node.kind == Kind::Folder {
            return Err(Failure::usage(format!(
                "{text} is a folder: only files have versions"
            )));
        }
        let listed = self.api.revisions(node.id).await;
        listed.context(format_args!("list the versions of {text}"))
    }

    /// Returns the id of the version of a file that a person has chosen, if they have; they call the file `text`.
    pub(crate) async fn chosen_version(
        &self,
        node: &Node,
        text: &str,
        version: Option<&str>,
    ) -> CommandResult<Option<RevisionId>> {
        let Some(version) = version else {
            return Ok(None);
        };
        let revisions = self.revisions(node, text).await?;
        Ok(Some(find_version(&revisions, text, version)?.id))
    }
}

/// Finds the version of a file that a person means by its number or the beginning of its id.
pub(crate) fn find_version<'a>(
    revisions: &'a [Revision],
    file: &str,
    version: &str,
) -> CommandResult<&'a Revision> {
    let numbered = version.parse::<u64>().ok();
    if let Some(found) = revisions.iter().find(|r| Some(r.number) == numbered) {
        return Ok(found);
    }
    if numbered.is_none() && version.len() < MIN_PREFIX {
        return Err(Failure::usage(format!(
            "`{version}` is too short for a version of {file}: give its number, or {MIN_PREFIX} digits or more of its id"
        )));
    }
    let prefix = version.to_ascii_lowercase();
    let begins =
        |r: &&Revision| version.len() >= MIN_PREFIX && r.id.to_string().starts_with(&prefix);
    let mut matching = revisions.iter().filter(begins);
    match (matching.next(), matching.next()) {
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err(Failure::usage(format!(
            "{version} fits several versions of {file}: give more digits"
        ))),
        (None, _) => Err(Failure::usage(format!(
            "{file} has no version {version}: `cairn versions` shows their numbers and ids"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn revision(number: u64, id: &str) -> Revision {
        serde_json::from_value(json!({
            "id": id, "node_id": id, "number": number, "size": 1,
            "created_at": "2026-01-01T00:00:00Z", "modified_at": null, "current": false,
            "device_id": null, "uploaded_by": "a@example.com",
        }))
        .unwrap()
    }

    #[test]
    fn a_version_is_named_by_number_or_the_beginning_of_its_id() {
        let all = [
            revision(2, "aaaa1111-0000-4000-8000-000000000000"),
            revision(1, "aaaa2222-0000-4000-8000-000000000000"),
        ];
        let found = |text: &str| find_version(&all, "a.txt", text).map(|revision| revision.number);
        assert_eq!(found("1"), Ok(1));
        assert_eq!(found("aaaa1"), Ok(2));
        assert_eq!(found("AAAA2222-0000-4000-8000-000000000000"), Ok(1));
        for (text, words) in [
            ("aaaa", "fits several versions of a.txt"),
            ("aa", "too short"),
            ("3", "a.txt has no version 3"),
            ("bbbb", "a.txt has no version bbbb"),
        ] {
            let message = found(text).unwrap_err().message;
            assert!(message.contains(words), "{message}");
        }
    }
}
