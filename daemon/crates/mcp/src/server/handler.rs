//! What the protocol asks of a server, answered from the catalogue. No tool's own work stands here.

use super::confirm::{Asking, Confirm, Verdict};
use crate::arguments::Arguments;
use crate::call::{self, Call};
use crate::failure::{Outcome, ToolError};
use crate::progress::{Report, Reporter};
use crate::selection::Selection;
use crate::services::Services;
use crate::tool::Tool;
use crate::{answer, instructions, prompt, resource, schema};
use futures_util::FutureExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig, Tool as WireTool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

const JSON: &str = "application/json";
/// Between two messages about progress.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Handler {
    services: Arc<Services>,
    selection: Selection,
    /// The same answer for every client: made once.
    tools: Vec<WireTool>,
    asking: Asking,
}

impl Handler {
    pub(super) fn new(services: Arc<Services>, selection: Selection, confirm: Confirm) -> Self {
        Self {
            services,
            tools: selection.tools.iter().map(|tool| on_wire(tool)).collect(),
            selection,
            asking: Asking::new(confirm),
        }
    }

    fn resources(&self) -> Vec<Resource> {
        let sync = self.services.daemon.is_some().then_some(&resource::SYNC);
        resource::FIXED
            .iter()
            .chain(sync)
            .map(|fixed| {
                Resource::new(fixed.uri, fixed.name)
                    .with_description(fixed.about)
                    .with_mime_type(JSON)
            })
            .collect()
    }

    /// Runs a tool to its end, its failure, or until the client takes the call back.
    async fn outcome(
        &self,
        tool: &'static Tool,
        arguments: Arguments,
        context: &RequestContext<RoleServer>,
    ) -> Outcome<Value> {
        let (progress, reports) = Reporter::new();
        let call = Call {
            services: self.services.clone(),
            arguments,
            progress,
        };
        let work = AssertUnwindSafe(call::run(tool, call)).catch_unwind();
        tokio::select! {
            outcome = reported(work, reports, context) => match outcome {
                Ok(outcome) => outcome,
                Err(_) => {
                    tracing::error!(tool = tool.name, "the tool panicked");
                    Err(ToolError::Panicked)
                }
            },
            () = context.ct.cancelled() => Err(ToolError::Cancelled),
        }
    }
}

/// Does the work, and tells a client that wants to hear of it how far it is. Nothing is told after the
/// work is done: the answer is the last that a client hears.
async fn reported<T>(
    work: impl Future<Output = T>,
    mut reports: watch::Receiver<Report>,
    context: &RequestContext<RoleServer>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else {
        return work.await;
    };
    tokio::pin!(work);
    let mut told: Option<Report> = None;
    let mut last = None::<Instant>;
    loop {
        tokio::select! {
            done = &mut work => return done,
            changed = reports.changed() => {
                if changed.is_err() {
                    return work.await;
                }
            }
        }
        let report = reports.borrow_and_update().clone();
        let further = told.as_ref().is_none_or(|told| report.done > told.done);
        let paused = last.is_none_or(|last| last.elapsed() >= PROGRESS_PAUSE);
        if further && (paused || report.total == Some(report.done)) {
            let mut param = ProgressNotificationParam::new(token.clone(), report.done as f64);
            param.total = report.total.map(|total| total as f64);
            param.message.clone_from(&report.message);
            tell(&context.peer, param).await;
            told = Some(report);
            last = Some(Instant::now());
        }
    }
}

async fn tell(peer: &Peer<RoleServer>, param: ProgressNotificationParam) {
    if let Err(error) = peer.notify_progress(param).await {
        tracing::debug!(%error, "nobody hears of the progress");
    }
}

fn on_wire(tool: &Tool) -> WireTool {
    let annotations = ToolAnnotations::from_raw(
        Some(tool.title.to_owned()),
        Some(tool.effect.reads_only()),
        Some(tool.effect.destroys()),
        Some(tool.effect.repeats()),
        Some(tool.open_world),
    );
    WireTool::new(tool.name, tool.about, Arc::new(schema::input(tool)))
        .with_annotations(annotations)
}

/// Everything fits into one page, so that no cursor was ever given out.
fn first_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_deref()) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params(
            "the cursor is unknown: everything is on the first page",
            None,
        )),
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let mut server = Implementation::new("cairn", env!("CARGO_PKG_VERSION"));
        server.title = Some("Cairn".to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions::text(&self.selection))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request.as_ref())?;
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.selection.find(&request.name) else {
            let name: String = request.name.chars().take(100).collect();
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{name}`: tools/list names those there are"),
                None,
            ));
        };
        let given = request.arguments.clone().unwrap_or_default();
        let outcome = match Arguments::check(tool, given) {
            Err(error) => Err(error),
            Ok(arguments) => match self.asking.verdict(tool, &request, &context).await {
                Ok(Verdict::Ask(ask)) => return Ok(ask.into()),
                Ok(Verdict::Go) => self.outcome(tool, arguments, &context).await,
                Err(error) => Err(error),
            },
        };
        request.arguments = None;
        let result = match outcome {
            Ok(value) => answer::success(tool.name, value),
            Err(error) => {
                tracing::info!(tool = tool.name, %error, "the tool failed");
                answer::failure(&error)
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request.as_ref())?;
        Ok(ListResourcesResult::with_all_items(self.resources()))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request.as_ref())?;
        let templates = resource::TEMPLATES
            .iter()
            .map(|template| {
                ResourceTemplate::new(template.uri(), template.name)
                    .with_description(template.about)
                    .with_mime_type(JSON)
            })
            .collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = tokio::select! {
            read = resource::read(&self.services, &request.uri) => read,
            () = context.ct.cancelled() => Some(ToolError::Cancelled.json()),
        };
        let Some(value) = read else {
            let uri: String = request.uri.chars().take(200).collect();
            return Err(ErrorData::resource_not_found(
                format!("there is no resource `{uri}`: resources/list names those there are"),
                Some(serde_json::json!({ "uri": uri })),
            ));
        };
        let text = ResourceContents::text(value.to_string(), request.uri).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![text]).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request.as_ref())?;
        let prompts = prompt::ALL
            .iter()
            .map(|prompt| {
                Prompt::new(prompt.name, Some(prompt.about), None).with_title(prompt.title)
            })
            .collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = prompt::ALL
            .iter()
            .find(|prompt| prompt.name == request.name)
        else {
            let name: String = request.name.chars().take(100).collect();
            return Err(ErrorData::invalid_params(
                format!("there is no prompt `{name}`: prompts/list names those there are"),
                None,
            ));
        };
        let message = PromptMessage::new_text(Role::User, prompt.text);
        let mut result = GetPromptResult::new(vec![message]);
        result.description = Some(prompt.about.to_owned());
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        // Only the ids in addresses can be completed: prompts take no arguments.
        let values = match request.r#ref.as_resource_uri() {
            Some(uri) => resource::complete(&self.services, uri, &request.argument.value).await,
            None => Vec::new(),
        };
        let info = CompletionInfo::with_all_values(values)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }
}
