//! Confirmation by a person before something that can't be undone or costs money: through elicitation, in
//! both forms that the protocol has had for it.

use crate::error::{ToolError, ToolResult};
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

/// When a person is asked for confirmation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Confirm {
    /// When the client declares that it can ask.
    #[default]
    Auto,
    Never,
}

const KEY: &str = "confirmation";

/// The next step of a call.
pub(super) enum Decision {
    Proceed,
    /// Return this; the client asks the person and calls again.
    Ask(InputRequiredResult),
}

/// Asks for confirmations and checks the replies.
pub(super) struct Confirmations {
    confirm: Confirm,
    /// Binds a confirmation to the very call that it was given for.
    hasher: RandomState,
}

impl Confirmations {
    pub(super) fn new(confirm: Confirm) -> Self {
        Self {
            confirm,
            hasher: RandomState::new(),
        }
    }

    /// Decides whether the call may proceed, asking a person where needed.
    ///
    /// # Errors
    /// [`ToolError::NotConfirmed`].
    pub(super) async fn decide(
        &self,
        tool: &Tool,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult<Decision> {
        let capable = context
            .client_capabilities()
            .is_some_and(|c| supports_forms(&c));
        if !tool.confirm || self.confirm == Confirm::Never || !capable {
            return Ok(Decision::Proceed);
        }
        let params = question(tool, request.arguments.as_ref())?;
        let stateless = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if !stateless {
            return match context.peer.create_elicitation(params).await {
                Ok(result) => ensure_accepted(&result).map(|()| Decision::Proceed),
                Err(error) => {
                    tracing::warn!(%error, "the client could not ask for confirmation");
                    Err(ToolError::NotConfirmed)
                }
            };
        }
        let state = self.state(tool, request.arguments.as_ref());
        let response = request
            .input_responses
            .as_ref()
            .and_then(|responses| responses.get(KEY));
        match response {
            Some(response) if request.request_state.as_deref() == Some(state.as_str()) => {
                let result: ElicitResult = serde_json::from_value(response.clone())
                    .map_err(|_| ToolError::NotConfirmed)?;
                ensure_accepted(&result).map(|()| Decision::Proceed)
            }
            _ => {
                let question = InputRequest::Elicitation(ElicitRequest::new(params));
                let questions = InputRequests::from([(KEY.to_owned(), question)]);
                Ok(Decision::Ask(InputRequiredResult::new(
                    Some(questions),
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

fn supports_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

fn question(tool: &Tool, arguments: Option<&JsonObject>) -> ToolResult<ElicitRequestParams> {
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
        .map_err(|_| ToolError::Internal)?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("{}{with}: {} Go ahead?", tool.title, tool.description),
        requested_schema,
    })
}

fn ensure_accepted(result: &ElicitResult) -> ToolResult {
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
