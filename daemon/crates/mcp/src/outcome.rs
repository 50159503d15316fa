//! Changes of which nobody knows whether they were made: the response was lost, or the service failed on the way. The
//! message names the tool that shows it, so that nothing is paid or written twice.

use crate::error::ToolError;
use cairn_api::ApiError;
use cairn_transfer::TransferError;

const ADVICE: &str = "look whether it was";

/// The advice for tools whose changes another tool shows.
const ADVICE_OF: [(&str, &[&str]); 8] = [
    (
        "look at get_wallet_balance",
        &["send_tip", "request_token_withdrawal"],
    ),
    (
        "look at list_comments",
        &["add_comment", "reply_to_comment", "delete_comment"],
    ),
    (
        "look at list_share_links",
        &[
            "create_share_link",
            "share_file_by_email",
            "bulk_create_share_links",
            "toggle_share_link",
            "update_share_link",
        ],
    ),
    ("look at list_api_keys", &["create_api_key"]),
    ("look at list_webhooks", &["create_webhook"]),
    (
        "look at list_files",
        &[
            "create_folder",
            "create_nested_folders",
            "copy_file",
            "move_file",
            "rename_file",
            "delete_file",
            "restore_from_trash",
        ],
    ),
    ("look at list_teams", &["create_team"]),
    (
        "look at list_team_members",
        &[
            "invite_team_member",
            "remove_team_member",
            "offboard_team_member",
        ],
    ),
];

/// Returns the error of a change that may have been made.
pub(crate) fn mark_unknown(cause: ToolError) -> ToolError {
    ToolError::MayBeDone {
        cause: Box::new(cause),
        advice: ADVICE,
    }
}

/// Returns the error of the tool of a name, with the advice where its change shows if it may have been made. A tool
/// whose changes are noted in the journal may have sealed them.
pub(crate) fn of_tool(tool: &str, is_noted: bool, error: ToolError) -> ToolError {
    // A sealed change is several requests, the last of which may have arrived.
    let is_sealed = is_noted && is_open(&error);
    let cause = if let ToolError::MayBeDone { cause, .. } = error {
        cause
    } else if is_sealed {
        Box::new(error)
    } else {
        return error;
    };
    let known = ADVICE_OF.iter().find(|(_, tools)| tools.contains(&tool));
    let advice = known.map_or(ADVICE, |(advice, _)| *advice);
    ToolError::MayBeDone { cause, advice }
}

/// Returns true for an error after which nobody knows what the service has done.
pub(crate) fn is_open(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::MayBeDone { .. }
            | ToolError::Transfer(TransferError::Api(
                ApiError::Offline(_) | ApiError::Server { .. } | ApiError::Protocol(_)
            ))
            | ToolError::TimedOut { .. }
    )
}

/// Returns true for an error with which the service asks to be left alone for a while.
pub(crate) fn asks_to_wait(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::Api(ApiError::RateLimited { .. })
            | ToolError::Transfer(TransferError::Api(ApiError::RateLimited { .. }))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset;

    fn find_tool(name: &str) -> &'static crate::tool::Tool {
        let mut tools = toolset::ALL.iter().flat_map(|set| set.tools);
        let found = tools.find(|tool| tool.name == name);
        found.unwrap_or_else(|| panic!("there is no tool {name}"))
    }

    #[test]
    fn the_advice_names_tools_that_exist() {
        for (advice, tools) in ADVICE_OF {
            find_tool(advice.trim_start_matches("look at "));
            for tool in tools {
                assert!(!find_tool(tool).effect.is_read_only(), "{tool}");
            }
        }
    }

    #[test]
    fn a_payment_whose_response_is_lost_is_not_reported_as_not_made() {
        let failed = ApiError::Server {
            status: 502,
            message: "bad gateway".to_owned(),
            retry_after: None,
        };
        let message = of_tool("send_tip", false, mark_unknown(failed.into())).public_message();
        let expected =
            "it may have been done all the same: look at get_wallet_balance before you repeat it";
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("try again"), "{message}");
        let refused = of_tool("send_tip", false, ToolError::NotConfirmed);
        assert!(matches!(refused, ToolError::NotConfirmed));
    }
}
