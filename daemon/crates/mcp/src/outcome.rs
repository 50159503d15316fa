//! Changes of which nobody knows whether they were made: the response was lost, or the service failed on the way. The
//! message names the tool that shows it, so that nothing is paid or written twice.

use crate::error::ToolError;
use cairn_api::ApiError;
use cairn_transfer::TransferError;

const ADVICE: &str = "look whether it was before you repeat it";

/// The advice for tools whose changes another tool shows.
const ADVICE_OF: [(&str, &[&str]); 14] = [
    (
        "look at get_spending_alerts (spent_this_month) for money, or at get_wallet_balance (token_balance) for tokens, before you repeat it",
        &["send_tip"],
    ),
    (
        "look at get_spending_alerts (spent_this_month) before you repeat it",
        &["subscribe_to_creator"],
    ),
    (
        "look at get_wallet_balance (pending_payouts) before you repeat it",
        &["request_token_withdrawal"],
    ),
    (
        "look at list_creator_plans before you repeat it",
        &["create_creator_plan"],
    ),
    (
        "look at list_comments before you repeat it",
        &["add_comment", "reply_to_comment", "delete_comment"],
    ),
    (
        "look at list_share_links before you repeat it",
        &[
            "create_share_link",
            "share_file_by_email",
            "bulk_create_share_links",
            "toggle_share_link",
            "update_share_link",
            "delete_share_link",
        ],
    ),
    (
        "look at list_api_keys before you repeat it",
        &["create_api_key"],
    ),
    (
        "look at list_webhooks before you repeat it",
        &["create_webhook", "delete_webhook"],
    ),
    (
        "look at list_files before you repeat it",
        &[
            "create_folder",
            "create_nested_folders",
            "copy_file",
            "move_file",
            "move_files",
            "rename_file",
            "delete_file",
            "restore_from_trash",
        ],
    ),
    (
        "look at get_file_info before you repeat it",
        &["classify_file", "favorite_file", "set_file_description"],
    ),
    (
        "look at get_file_versions before you repeat it",
        &["restore_file_version"],
    ),
    ("look at list_teams before you repeat it", &["create_team"]),
    (
        "look at list_team_members before you repeat it",
        &[
            "change_member_role",
            "remove_team_member",
            "offboard_team_member",
        ],
    ),
    (
        "no tool shows open invitations, but it may be repeated: the service refuses a second invitation while the first one is open",
        &["invite_team_member"],
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
    if let ToolError::MayBeDone { cause, .. } = error {
        return asks_to_wait(cause);
    }
    matches!(
        error,
        ToolError::Api(ApiError::RateLimited { .. })
            | ToolError::Transfer(TransferError::Api(ApiError::RateLimited { .. }))
    )
}

/// Returns the error of a change that has ended before its tool has, by a cancellation or a panic: what it has asked
/// of the service by then may be done.
pub(crate) fn of_ended_call(tool: &str, error: ToolError) -> ToolError {
    of_tool(tool, false, mark_unknown(error))
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
        let is_field =
            |word: &&str| ["spent_this_month", "token_balance", "pending_payouts"].contains(word);
        for (advice, tools) in ADVICE_OF {
            let words = advice.split(|c: char| c != '_' && !c.is_ascii_lowercase());
            let names = words.filter(|word| word.contains('_') && !is_field(word));
            for name in names {
                assert!(find_tool(name).effect.is_read_only(), "{name}");
            }
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
        let expected = "it may have been done all the same: look at get_spending_alerts";
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("get_wallet_balance"), "{message}");
        assert!(message.ends_with("before you repeat it"), "{message}");
        assert!(!message.contains("try again"), "{message}");
        let refused = of_tool("send_tip", false, ToolError::NotConfirmed);
        assert!(matches!(refused, ToolError::NotConfirmed));
    }

    #[test]
    fn a_request_to_wait_is_found_behind_an_unknown_outcome() {
        let limited = || ApiError::RateLimited {
            retry_after: std::time::Duration::from_secs(60),
        };
        assert!(asks_to_wait(&limited().into()));
        assert!(asks_to_wait(&mark_unknown(limited().into())));
        assert!(!asks_to_wait(&mark_unknown(ToolError::Internal)));
    }

    #[test]
    fn a_cancelled_change_may_be_done() {
        let message = of_ended_call("send_tip", ToolError::Cancelled).public_message();
        assert!(message.contains("look at get_spending_alerts"), "{message}");
    }

    #[test]
    fn a_payment_whose_tool_panicked_is_not_to_be_repeated_unseen() {
        for error in [ToolError::Internal, ToolError::TimedOut { seconds: 50 }] {
            let message = of_ended_call("send_tip", error).public_message();
            assert!(!message.contains("try again"), "{message}");
            assert!(message.contains("look at get_spending_alerts"), "{message}");
        }
    }
}
