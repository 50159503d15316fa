//! Confirmation by a person: through elicitation, in both forms that the protocol has had for it. The
//! question itself is the tool's ([`crate::question`]).

use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question;
use crate::time_limit::TimeLimit;
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

/// The tool calls for which a person is asked for confirmation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Confirm {
    /// Before every change; a client that can't ask can't change anything.
    Always,
    /// Before what can't be undone, costs money or gives something away, where the client can ask.
    #[default]
    Risky,
    /// Never. Local files are not replaced then, unless the settings allow it, and deletions that wait for a person
    /// go on waiting.
    Never,
}

const KEY: &str = "confirmation";

/// The next step of a call.
pub(super) enum Decision {
    /// Run it without a confirmation.
    Proceed,
    /// Run it: there is nothing that its question could be about.
    NothingToAsk,
    /// Run it: a person agreed.
    Confirmed,
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

    /// Decides whether the call may proceed, asking a person where needed. The limit is for what the question needs to
    /// know; the person may take their time.
    ///
    /// # Errors
    /// [`ToolError::NotConfirmed`], [`ToolError::TimedOut`], and what the question's own checks refuse.
    pub(super) async fn decide(
        &self,
        tool: &Tool,
        call: &Call,
        limit: TimeLimit,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult<Decision> {
        let always = self.confirm == Confirm::Always
            && !tool.effect.is_read_only()
            && !call.only_shows(tool);
        let wanted = always || self.confirm == Confirm::Risky;
        if !wanted || !(always || tool.ask.is_some()) {
            return Ok(Decision::Proceed);
        }
        if !context
            .client_capabilities()
            .is_some_and(|c| supports_forms(&c))
        {
            return if always {
                Err(ToolError::refused(
                    "this call needs a confirmation, which this client can't ask for: start the server with --confirm risky",
                ))
            } else {
                Ok(Decision::Proceed)
            };
        }
        let question = limit.prepare(Box::pin(question_of(tool, call, always)));
        match question.await? {
            Some(question) => self.ask(tool, question, request, context).await,
            None => Ok(Decision::NothingToAsk),
        }
    }

    async fn ask(
        &self,
        tool: &Tool,
        question: String,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult<Decision> {
        let state = self.state(tool, request.arguments.as_ref(), &question);
        let params = form(tool, question)?;
        let stateless = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if !stateless {
            return match context.peer.create_elicitation(params).await {
                Ok(result) => ensure_accepted(&result).map(|()| Decision::Confirmed),
                Err(error) => {
                    tracing::warn!(%error, "the client could not ask for confirmation");
                    Err(ToolError::NotConfirmed)
                }
            };
        }
        let response = request
            .input_responses
            .as_ref()
            .and_then(|responses| responses.get(KEY));
        match response {
            Some(response) if request.request_state.as_deref() == Some(state.as_str()) => {
                let result: ElicitResult = serde_json::from_value(response.clone())
                    .map_err(|_| ToolError::NotConfirmed)?;
                ensure_accepted(&result).map(|()| Decision::Confirmed)
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

    fn state(&self, tool: &Tool, arguments: Option<&JsonObject>, question: &str) -> String {
        let arguments = arguments.map(|fields| json!(fields).to_string());
        let hash = self.hasher.hash_one((tool.name, arguments, question));
        format!("{hash:016x}")
    }
}

/// Returns the question before a call, a general one where there has to be one; `None` if the tool's own finds nothing
/// to ask about.
async fn question_of(tool: &Tool, call: &Call, always: bool) -> ToolResult<Option<String>> {
    let own = match tool.ask {
        Some(ask) => ask(call).await?,
        None => None,
    };
    Ok(match own {
        None if always => Some(question::generic(tool, call).await?),
        own => own,
    })
}

fn supports_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

fn form(tool: &Tool, question: String) -> ToolResult<ElicitRequestParams> {
    let requested_schema = ElicitationSchema::builder()
        .required_bool_with("confirm", |field| {
            field.title("Go ahead").description(tool.title)
        })
        .build()
        .map_err(|_| ToolError::Internal)?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        requested_schema,
    })
}

fn ensure_accepted(result: &ElicitResult) -> ToolResult {
    // A form that was sent on unread is no agreement.
    let is_confirmed = result
        .content
        .as_ref()
        .is_some_and(|content| content.get("confirm") == Some(&Value::Bool(true)));
    if result.action == ElicitationAction::Accept && is_confirmed {
        Ok(())
    } else {
        Err(ToolError::NotConfirmed)
    }
}
