//! Asking a person before something that can't be undone, or that costs money: through elicitation, in
//! both ways that the protocol has had for it. A client that can't ask is trusted to have asked.

use crate::failure::{Outcome, ToolError};
use crate::tool::Tool;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    JsonObject, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::hash::{BuildHasher as _, RandomState};

/// Whether a person is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Confirm {
    /// Where the client says that it can.
    #[default]
    Auto,
    Never,
}

const KEY: &str = "confirmation";

/// What to do with a call.
pub(super) enum Verdict {
    Go,
    /// Give this back; the client asks and calls again.
    Ask(InputRequiredResult),
}

/// Asks, and remembers what was asked.
pub(super) struct Asking {
    confirm: Confirm,
    /// Binds a confirmation to the very call that it was given for.
    hasher: RandomState,
}

impl Asking {
    pub(super) fn new(confirm: Confirm) -> Self {
        Self {
            confirm,
            hasher: RandomState::new(),
        }
    }

    /// Tells whether the call may go ahead.
    ///
    /// # Errors
    /// [`ToolError::NotConfirmed`].
    pub(super) async fn verdict(
        &self,
        tool: &Tool,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Outcome<Verdict> {
        let capable = context.client_capabilities().is_some_and(|c| can_ask(&c));
        if !tool.confirm || self.confirm == Confirm::Never || !capable {
            return Ok(Verdict::Go);
        }
        let params = question(tool, request.arguments.as_ref())?;
        let stateless = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if !stateless {
            return match context.peer.create_elicitation(params).await {
                Ok(result) => agreed(&result).map(|()| Verdict::Go),
                Err(error) => {
                    tracing::warn!(%error, "nobody could be asked");
                    Err(ToolError::NotConfirmed)
                }
            };
        }
        let state = self.state(tool, request.arguments.as_ref());
        let answer = request
            .input_responses
            .as_ref()
            .and_then(|answers| answers.get(KEY));
        match answer {
            Some(answer) if request.request_state.as_deref() == Some(state.as_str()) => {
                let result: ElicitResult =
                    serde_json::from_value(answer.clone()).map_err(|_| ToolError::NotConfirmed)?;
                agreed(&result).map(|()| Verdict::Go)
            }
            _ => {
                let ask = InputRequest::Elicitation(ElicitRequest::new(params));
                let asks = InputRequests::from([(KEY.to_owned(), ask)]);
                Ok(Verdict::Ask(InputRequiredResult::new(
                    Some(asks),
                    Some(state),
                )))
            }
        }
    }

    fn state(&self, tool: &Tool, arguments: Option<&JsonObject>) -> String {
        let arguments = arguments.map(|fields| json!(fields).to_string());
        format!("{:016x}", self.hasher.hash_one((tool.name, arguments)))
    }
}

fn can_ask(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

fn question(tool: &Tool, arguments: Option<&JsonObject>) -> Outcome<ElicitRequestParams> {
    let shown: Vec<_> = arguments
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let value: String = crate::clean::text(&value.to_string())
                .chars()
                .take(200)
                .collect();
            format!("{name} = {value}")
        })
        .collect();
    let with = if shown.is_empty() {
        String::new()
    } else {
        format!(" ({})", shown.join(", "))
    };
    let requested_schema = ElicitationSchema::builder()
        .required_bool_with("confirm", |field| {
            field.title("Go ahead").description(tool.title)
        })
        .build()
        .map_err(|_| ToolError::Panicked)?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("{}{with}: {} Go ahead?", tool.title, tool.about),
        requested_schema,
    })
}

fn agreed(result: &ElicitResult) -> Outcome {
    let unticked = result
        .content
        .as_ref()
        .is_some_and(|content| content.get("confirm") == Some(&Value::Bool(false)));
    if result.action == ElicitationAction::Accept && !unticked {
        Ok(())
    } else {
        Err(ToolError::NotConfirmed)
    }
}
