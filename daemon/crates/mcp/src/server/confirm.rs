//! Confirmation by a person: through elicitation, in both forms that the protocol has had for it. The
//! question itself is the tool's ([`crate::question`]).

use super::open_questions::OpenQuestions;
use crate::call::Call;
use crate::error::{ToolError, ToolResult};
use crate::question;
use crate::subject::Parts;
use crate::time_limit::TimeLimit;
use crate::tool::Tool;
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    ProtocolVersion,
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

/// The questions of one call, each about what the one before had become, until the call is given up.
const MOST_QUESTIONS: usize = 3;

/// The begin of a question about something that changed while the person was asked.
const CHANGED: &str = "This has changed since you were asked. ";

/// The next step of a call.
pub(super) enum Decision {
    /// Run it without a confirmation.
    Proceed,
    /// Run it: there is nothing that its question could be about.
    NothingToAsk,
    /// Run it: a person agreed.
    Confirmed,
    /// Run it: a person agreed, and what they were asked about is gone.
    NothingLeftToAsk,
    /// Return this; the client asks the person and calls again.
    Ask(InputRequiredResult),
}

/// Asks for confirmations and checks the replies.
pub(super) struct Confirmations {
    confirm: Confirm,
    /// Binds a confirmation to the very call that it was given for.
    hasher: RandomState,
    open: Mutex<OpenQuestions>,
}

/// A question, and what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Asked {
    question: String,
    parts: Parts,
}

impl Confirmations {
    pub(super) fn new(confirm: Confirm) -> Self {
        Self {
            confirm,
            hasher: RandomState::new(),
            open: Mutex::default(),
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
        if !(always || tool.ask.is_some()) {
            return Ok(Decision::Proceed);
        }
        let can_ask = context
            .client_capabilities()
            .is_some_and(|c| supports_forms(&c));
        if always && !can_ask {
            return Err(ToolError::refused(
                "this call needs a confirmation, which this client can't ask for: start the server with --confirm risky",
            ));
        }
        if !can_ask || self.confirm == Confirm::Never {
            return decide_unasked(tool, call, limit).await;
        }
        let asked = limit.prepare(Box::pin(question_of(tool, call, always)));
        let Some(asked) = asked.await? else {
            return Ok(Decision::NothingToAsk);
        };
        let stateless = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if stateless {
            self.ask_by_reply(tool, call, &asked, request)
        } else {
            ask_by_request(tool, call, always, asked, context).await
        }
    }

    /// Asks through the reply to the call, which the client repeats with the person's. The question was made anew for
    /// the call that came: it is about what is there now.
    fn ask_by_reply(
        &self,
        tool: &Tool,
        call: &Call,
        asked: &Asked,
        request: &CallToolRequestParams,
    ) -> ToolResult<Decision> {
        let about = self.hash(tool, call, asked)?;
        let responses = request.input_responses.as_ref();
        let response = responses.and_then(|responses| responses.get(KEY));
        let mut has_changed = false;
        if let Some(response) = response
            && let Some(state) = &request.request_state
            && let Some(asked_before) = self.open.lock().take(state)
        {
            if asked_before == about {
                let result: ElicitResult = serde_json::from_value(response.clone())
                    .map_err(|_| ToolError::NotConfirmed)?;
                return ensure_accepted(&result).map(|()| Decision::Confirmed);
            }
            has_changed = true;
        }
        let question =
            InputRequest::Elicitation(ElicitRequest::new(asked.form(tool, has_changed)?));
        let questions = InputRequests::from([(KEY.to_owned(), question)]);
        let state = self.open.lock().add(about);
        Ok(Decision::Ask(InputRequiredResult::new(
            Some(questions),
            Some(state),
        )))
    }

    fn hash(&self, tool: &Tool, call: &Call, asked: &Asked) -> ToolResult<u64> {
        let Asked { question, parts } = asked;
        // With ids in place of the paths that the client gave.
        let arguments = json!(call.arguments.fields()).to_string();
        let parts = serde_json::to_string(parts).map_err(|_| ToolError::Internal)?;
        let about = (tool.name, arguments, question, parts);
        Ok(self.hasher.hash_one(about))
    }
}

/// Decides on a call about which nobody can be asked.
///
/// # Errors
/// [`ToolError::Refused`] if somebody has to be.
async fn decide_unasked(tool: &Tool, call: &Call, limit: TimeLimit) -> ToolResult<Decision> {
    if !tool.never_unasked {
        return Ok(Decision::Proceed);
    }
    let asked = limit.prepare(Box::pin(question_of(tool, call, false)));
    match asked.await? {
        None => Ok(Decision::Proceed),
        Some(asked) => Err(ToolError::refused(format!(
            "only a person can agree to this, and nobody can be asked here: {} They can do it with the `cairn` command.",
            asked.question
        ))),
    }
}

/// Asks in the middle of the call, and anew as long as what the person agreed to is not what is there now.
async fn ask_by_request(
    tool: &Tool,
    call: &Call,
    always: bool,
    first: Asked,
    context: &RequestContext<RoleServer>,
) -> ToolResult<Decision> {
    let mut asked = first;
    for number in 0..MOST_QUESTIONS {
        let form = asked.form(tool, number > 0)?;
        let mut ended = call.services.input_ended.subscribe();
        let ended = async { ended.wait_for(|is| *is).await.map(drop) };
        let result = tokio::select! {
            result = context.peer.create_elicitation(form) => result,
            _ = ended => return Err(ToolError::Cancelled),
        };
        let result = result.map_err(|error| {
            tracing::warn!(%error, "the client could not ask for confirmation");
            ToolError::NotConfirmed
        })?;
        ensure_accepted(&result)?;
        let limit = TimeLimit::start(tool.name);
        let now = limit.prepare(Box::pin(question_of(tool, call, always)));
        match now.await? {
            None => return Ok(Decision::NothingLeftToAsk),
            Some(now) if now == asked => return Ok(Decision::Confirmed),
            Some(now) => asked = now,
        }
    }
    Err(ToolError::refused(
        "what this call is about changed each time that the person was asked, so that nothing was done: call again later",
    ))
}

/// Returns the question before a call, a general one where there has to be one, with what it is about; `None` if the
/// tool's own finds nothing to ask about.
async fn question_of(tool: &Tool, call: &Call, always: bool) -> ToolResult<Option<Asked>> {
    call.subject.clear();
    let own = match tool.ask {
        Some(ask) => ask(call).await?,
        None => None,
    };
    let question = match own {
        None if always => Some(question::generic(tool, call).await?),
        own => own,
    };
    Ok(question.map(|question| Asked {
        question,
        parts: call.subject.parts(),
    }))
}

impl Asked {
    fn form(&self, tool: &Tool, has_changed: bool) -> ToolResult<ElicitRequestParams> {
        let requested_schema = ElicitationSchema::builder()
            .required_bool_with("confirm", |field| {
                field.title("Go ahead").description(tool.title)
            })
            .build()
            .map_err(|_| ToolError::Internal)?;
        let begin = if has_changed { CHANGED } else { "" };
        Ok(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("{begin}{}", self.question),
            requested_schema,
        })
    }
}

fn supports_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
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
