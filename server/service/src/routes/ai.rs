//! `/ai`: the assistant's answers as a stream, what they cost, and the classification of folders.

use crate::assistant;
use crate::auth::Caller;
use crate::bounds::CHAT_MESSAGE;
use crate::error::{Error, Result};
use crate::http::extract::Input;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use cairn_store::Edit;
use cairn_wire::ai::{
    AiUsage, AiUse, ChatDelta, ChatDone, ChatMessage, ChatUsage, ClassificationState,
    ClassifiedFile, ClassifiedFolder, ClassifyFolder,
};
use futures_util::Stream;
use std::convert::Infallible;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Tokens that classifying one file takes.
const TOKENS_PER_FILE: u64 = 1;
/// Cents for 500 tokens, the price of the smallest pack.
const PACK_CENTS: u64 = 499;
const PACK_TOKENS: u64 = 500;

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(chat))
        .routes(routes!(usage))
        .routes(routes!(classify))
}

fn event(name: &str, data: &impl serde::Serialize) -> Result<Event> {
    Event::default()
        .event(name)
        .json_data(data)
        .map_err(|e| Error::internal(format!("can't write an event: {e}")))
}

/// Asks the assistant; its response streams as `delta`, `usage` and `done`.
///
/// The assistant knows the caller's own metadata and answers the same question always the same way.
#[utoipa::path(
    post, path = "/api/v1/ai/chat", tag = "ai", request_body = ChatMessage,
    responses(
        (status = 200, description = "Server-sent events: `delta {text}`, `usage {tokens}`, `done {conversation_id}`; `error {code, message}` where it breaks off", body = ChatDelta, content_type = "text/event-stream"),
        (status = 400, description = "The message is empty or too long"),
        (status = 402, description = "The plan's tokens of this month and the bought ones are used up")
    )
)]
async fn chat(
    caller: Caller,
    State(app): State<AppState>,
    Input(asked): Input<ChatMessage>,
) -> Result<Sse<impl Stream<Item = std::result::Result<Event, Infallible>>>> {
    let length = asked.message.chars().count();
    if asked.message.trim().is_empty() || length > CHAT_MESSAGE {
        return Err(Error::invalid(format!(
            "`message` has {length} characters; it has to have 1 to {CHAT_MESSAGE}"
        )));
    }
    app.bandwidth.flush(&app.store, caller.account)?;
    let facts = app.store.facts(caller.account, caller.space)?;
    let quota = app.store.quota(caller.account)?;
    let pieces = assistant::reply(&asked.message, &facts, &quota);
    let tokens = assistant::tokens(&asked.message) + assistant::tokens(&pieces.concat());
    let used = AiUse {
        requests: 1,
        files: 0,
        tokens,
    };
    app.store
        .write(|tx| tx.add_ai_use(caller.account, "chat", used))?;
    let conversation_id = asked
        .conversation_id
        .unwrap_or_else(|| uuid::Builder::from_random_bytes(app.source.bytes()).into_uuid());
    let mut events = Vec::with_capacity(pieces.len() + 2);
    for text in pieces {
        events.push(Ok(event("delta", &ChatDelta { text })?));
    }
    events.push(Ok(event("usage", &ChatUsage { tokens })?));
    events.push(Ok(event("done", &ChatDone { conversation_id })?));
    Ok(Sse::new(futures_util::stream::iter(events)))
}

/// Returns what the assistant has cost in the current billing period, a calendar month.
#[utoipa::path(
    get, path = "/api/v1/ai/usage", tag = "ai",
    responses((status = 200, description = "The usage", body = AiUsage))
)]
async fn usage(caller: Caller, State(app): State<AppState>) -> Result<Json<AiUsage>> {
    let used = app.store.ai_usage(caller.account)?;
    let (plan, breakdown) = (used.plan, used.by_kind);
    let cents = (used.purchased * PACK_CENTS).div_ceil(PACK_TOKENS);
    Ok(Json(AiUsage {
        period: used.month,
        plan,
        tokens_used: breakdown.values().map(|used| used.tokens).sum(),
        included_tokens: used.included,
        purchased_tokens_used: used.purchased,
        classified_files: breakdown.get("classify").map_or(0, |used| used.files),
        classified_files_limit: used.files_limit,
        breakdown,
        cost: format!("{}.{:02}", cents / 100, cents % 100),
        currency: "USD".to_owned(),
    }))
}

/// Labels every file in a folder by its extension and metadata: all of them, or none.
#[utoipa::path(
    post, path = "/api/v1/ai/classify", tag = "ai", request_body = ClassifyFolder,
    responses(
        (status = 200, description = "The labels of each file", body = ClassifiedFolder),
        (status = 400, description = "`confirm_token_use` is not true, or it is not a folder"),
        (status = 402, description = "The plan's tokens of this month and the bought ones are used up"),
        (status = 403, description = "The plan has fewer classifications left this month than the folder has files"),
        (status = 404, description = "There is no such folder")
    )
)]
async fn classify(
    caller: Caller,
    State(app): State<AppState>,
    Input(asked): Input<ClassifyFolder>,
) -> Result<Json<ClassifiedFolder>> {
    if !asked.confirm_token_use {
        return Err(Error::invalid(
            "`confirm_token_use` has to be true: classification uses tokens",
        ));
    }
    let response = app.store.write(|tx| {
        let actor = caller.actor();
        let (files, remaining_this_month) = tx.files_to_classify(&actor, asked.folder_id)?;
        let mut results = Vec::with_capacity(files.len());
        for file in files {
            let labels = assistant::classify(&file);
            let edit = Edit {
                labels: Some(labels.clone()),
                ..Edit::default()
            };
            tx.edit(&actor, file.id, &edit)?;
            results.push(ClassifiedFile {
                file_id: file.id,
                name: file.name,
                labels,
                status: ClassificationState::Classified,
            });
        }
        let classified = results.len() as u64;
        let used = AiUse {
            requests: 1,
            files: classified,
            tokens: classified * TOKENS_PER_FILE,
        };
        tx.add_ai_use(caller.account, "classify", used)?;
        Ok(ClassifiedFolder {
            results,
            classified,
            failed: 0,
            tokens_used: used.tokens,
            remaining_this_month,
        })
    })?;
    Ok(Json(response))
}
