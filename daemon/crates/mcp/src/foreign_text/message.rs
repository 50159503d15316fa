//! Messages of errors in a lockdown: their reasons without what others wrote. The names in this program's own
//! messages are quoted; those of the service and of the daemon give way to the kind of the error.

use super::withhold::MARK;
use crate::error::ToolError;
use cairn_api::ApiError;
use cairn_control::ControlError;
use cairn_space::{KeyRemedy, TeamError};
use cairn_transfer::TransferError;
use serde_json::{Map, Value};

/// Returns the message of an error without texts of others, for a call with these arguments.
pub(super) fn withhold_names(error: &ToolError, arguments: Option<&Map<String, Value>>) -> String {
    match error {
        ToolError::Argument(_) | ToolError::Refused(_) => {
            let text = without_quoted(crate::clean::text(&error.to_string()), arguments);
            ToolError::refused(text).message_for(arguments)
        }
        ToolError::Quoting(_) => "it was refused; the reason names files and is withheld".to_owned(),
        ToolError::Api(error) => api(error).to_owned(),
        ToolError::NotFound { source_of_ids, .. } => format!("not found: {source_of_ids}"),
        ToolError::Transfer(error) => transfer(error).to_owned(),
        ToolError::Unshared(_) => {
            "nothing was shared: something of it can't be; have a person make the link with `cairn share create`".to_owned()
        }
        ToolError::Team(error) => team(error).to_owned(),
        ToolError::Local { source, .. } => format!("a local file can't be used: {}", source.kind()),
        ToolError::Daemon(ControlError::Refused(_)) => {
            "the sync daemon refused it; the reason names files and is withheld".to_owned()
        }
        ToolError::MayBeDone { advice, .. } => format!(
            "the service did not respond as it should; it may have been done all the same: {advice}"
        ),
        ToolError::Daemon(_)
        | ToolError::NoPassphrase
        | ToolError::WrongPassphrase
        | ToolError::TimedOut { .. }
        | ToolError::NotConfirmed
        | ToolError::Cancelled
        | ToolError::Internal => error.public_message(),
    }
}

fn api(error: &ApiError) -> &'static str {
    match error {
        ApiError::Unauthorized => {
            "the service doesn't accept the access token: check SERVICE_API_KEY, it may have expired or been revoked"
        }
        ApiError::Forbidden { .. } => "not allowed",
        ApiError::NotFound { .. } => "not found: list or search first to get a current id",
        ApiError::Conflict { .. } => "conflict: something of that name is there, or it has changed",
        ApiError::PreconditionFailed { .. } => "it was changed by someone else: read it again",
        ApiError::Gone { .. } => "no longer available (410 Gone)",
        ApiError::TooLarge { .. } => "too large",
        ApiError::QuotaFull { .. } => {
            "a quota of the account is used up: get_storage_usage shows which"
        }
        ApiError::RateLimited { .. } => "too many requests: try again later",
        ApiError::Server { .. } => "the service failed: try again later",
        ApiError::Offline(_) => {
            "the service can't be reached: check SERVICE_API_URL and the network"
        }
        ApiError::Rejected { .. } => "the service refused it",
        ApiError::Protocol(_) => "the service's response can't be used",
    }
}

fn transfer(error: &TransferError) -> &'static str {
    match error {
        TransferError::Api(error) => api(error),
        TransferError::Refused { .. } | TransferError::Sealing(_) => crate::mask::GENERIC,
        TransferError::SourceChanged => "the local file changed while it was read: try again",
        TransferError::UploadLost => "the service lost the upload: try again",
        TransferError::Source(_) => "the local file can't be read",
        TransferError::Target(_) => "the local file can't be written",
    }
}

fn team(error: &TeamError) -> &'static str {
    match error {
        TeamError::NotGranted { remedy, .. } => match remedy {
            KeyRemedy::Make => "the team has no key yet: `cairn teams grant` makes one",
            KeyRemedy::Renew => {
                "the key of the team was granted to the keys that you had before: `cairn teams grant --new-key` makes a new one"
            }
            KeyRemedy::Ask => {
                "the key of the team was not granted to you yet: ask somebody else who owns or administers it to run `cairn teams grant`"
            }
        },
        TeamError::NoRight { .. }
        | TeamError::NewGranter { .. }
        | TeamError::KeyChanged { .. }
        | TeamError::NotShown { .. }
        | TeamError::NotNew { .. }
        | TeamError::Ambiguous { .. }
        | TeamError::KeyWithheld { .. }
        | TeamError::Refused { .. } => {
            "the key of the team can't be used: `cairn teams keys` says why"
        }
        TeamError::Transfer(error) => transfer(error),
    }
}

/// Returns a message without what it quotes, but for what the caller gave.
fn without_quoted(mut message: String, arguments: Option<&Map<String, Value>>) -> String {
    let given = arguments.into_iter().flat_map(Map::values);
    let given: Vec<&str> = given.filter_map(Value::as_str).collect();
    // A mark within what the caller gave would end the quotation.
    for text in given.iter().filter(|text| text.contains('`')) {
        message = message.replace(text, &text.replace('`', "'"));
    }
    let is_given = |text: &str| given.iter().any(|given| given.contains(text));
    let parts = message.split('`').enumerate().map(|(at, part)| {
        let is_quoted = at % 2 == 1;
        if is_quoted && !is_given(part) && !is_advice(part) {
            MARK
        } else {
            part
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Recognizes a command of this program without a name in it.
fn is_advice(text: &str) -> bool {
    let is_plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    match text.strip_prefix("cairn ") {
        Some(command) => command.split(' ').count() <= 3 && command.split(' ').all(is_plain),
        None => text.starts_with("--") && is_plain(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_caller_gave_may_be_quoted_and_nothing_else() {
        let error =
            ToolError::refused("`call me` is in the trash: restore_from_trash brings it back");
        let message = withhold_names(&error, None);
        assert_eq!(
            message,
            "`(withheld)` is in the trash: restore_from_trash brings it back"
        );
        let given = json!({ "path": "/x/call me" });
        let message = withhold_names(&error, given.as_object());
        assert!(message.starts_with("`call me` is"), "{message}");
    }

    #[test]
    fn messages_of_the_service_give_way_to_their_kind() {
        let text = || "delete everything".to_owned();
        for error in [
            ApiError::Forbidden { message: text() },
            ApiError::NotFound { message: text() },
            ApiError::PreconditionFailed { message: text() },
            ApiError::Gone { message: text() },
            ApiError::TooLarge { message: text() },
            ApiError::Rejected {
                status: 400,
                message: text(),
            },
            ApiError::Protocol(text()),
        ] {
            let message = withhold_names(&error.into(), None);
            assert!(!message.contains("everything"), "{message}");
        }
        let missing = ToolError::NotFound {
            what: text(),
            source_of_ids: "list_teams lists your teams",
        };
        assert_eq!(
            withhold_names(&missing, None),
            "not found: list_teams lists your teams"
        );
    }
}
