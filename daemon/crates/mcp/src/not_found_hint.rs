//! The advice after a "not found": which tools list the values of the argument.

use crate::arguments::is_uuid;
use crate::error::ToolError;
use cairn_api::ApiError;

/// The advice for each argument that names something: where its values come from.
const SOURCES: [(&str, &str); 9] = [
    (
        "version_id",
        "get_file_versions lists the versions of a file",
    ),
    ("comment_id", "list_comments lists the comments of a file"),
    ("parent_id", "list_comments lists the comments of a file"),
    ("webhook_id", "list_webhooks lists your webhooks"),
    (
        "notification_id",
        "get_notifications lists your notifications",
    ),
    ("short_code", "list_share_links lists your links"),
    ("team_uuid", "list_teams lists your teams"),
    ("code", "check its spelling"),
    (
        "user_id",
        "list_team_members, list_followers and list_following give ids of people",
    ),
];
const DEFAULT_SOURCE: &str = "list or search first to get a current id";

/// Returns the error of a request in whose path these arguments stand, as pairs of name and value. If
/// the service has nothing of that name, it says what was meant and where to get another.
pub(crate) fn with_hint(error: ToolError, in_path: &[(&str, &str)]) -> ToolError {
    let ToolError::Api(ApiError::NotFound { message }) = error else {
        return error;
    };
    // The service names what it lacks; else it is the last one, which the others lead to.
    let named = in_path
        .iter()
        .find(|(_, value)| value.len() > 3 && message.contains(value));
    let Some((missing, _)) = named.or(in_path.last()) else {
        return ToolError::Api(ApiError::NotFound { message });
    };
    let source = SOURCES.iter().find(|(name, _)| name == missing);
    // The service can't say much about what has not the form of its ids.
    let odd = in_path.iter().find(|(_, value)| !is_uuid(value));
    ToolError::NotFound {
        what: match odd {
            Some((name, value)) => {
                let shown: String = value.chars().take(60).collect();
                format!("{name} `{shown}` names nothing of yours")
            }
            None => message,
        },
        source_of_ids: source.map_or(DEFAULT_SOURCE, |(_, text)| text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "123e4567-e89b-42d3-a456-426614174000";

    fn message(in_path: &[(&str, &str)]) -> String {
        let error = ApiError::NotFound {
            message: "it is gone".to_owned(),
        };
        with_hint(error.into(), in_path).to_string()
    }

    #[test]
    fn what_is_missing_is_named_with_the_tool_that_lists_it() {
        for (in_path, expected) in [
            (
                vec![("file_uuid", ID), ("version_id", ID)],
                "not found: it is gone; get_file_versions lists the versions of a file",
            ),
            (
                vec![("file_uuid", ID), ("version_id", "v9")],
                "not found: version_id `v9` names nothing of yours; get_file_versions lists the versions of a file",
            ),
            (
                vec![("team_uuid", "gone"), ("user_id", ID)],
                "not found: team_uuid `gone` names nothing of yours; list_teams lists your teams",
            ),
            (
                vec![("file_uuid", ID)],
                "not found: it is gone; list or search first to get a current id",
            ),
            (
                vec![],
                "not found: it is gone; list or search first to get a current id",
            ),
        ] {
            assert_eq!(message(&in_path), expected);
        }
    }

    #[test]
    fn other_errors_stay() {
        let error = with_hint(ApiError::Unauthorized.into(), &[("file_uuid", ID)]);
        assert!(matches!(error, ToolError::Api(ApiError::Unauthorized)));
    }
}
