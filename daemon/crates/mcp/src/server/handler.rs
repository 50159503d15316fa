//! The protocol's requests, served from the catalogue. No tool is implemented here.

use super::confirm::{Confirm, Confirmations, Decision};
use super::roots::{self, ClientRoots};
use super::subscribe::{self, Subscription};
use super::wire_tool::wire_tool;
use crate::arguments::Arguments;
use crate::call::{self, Call};
use crate::error::{ToolError, ToolResult};
use crate::local_paths::LocalPaths;
use crate::progress::{Report, Reporter};
use crate::selection::Selection;
use crate::services::Services;
use crate::tool::Tool;
use crate::{instructions, prompt, resource, response};
use futures_util::FutureExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool as WireTool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

const JSON: &str = "application/json";
/// The shortest time between two progress notifications.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Handler {
    services: Arc<Services>,
    selection: Selection,
    /// The reply to `tools/list`, built once.
    tools: Vec<WireTool>,
    confirmations: Confirmations,
    subscription: Subscription,
}

impl Handler {
    pub(super) fn new(services: Arc<Services>, selection: Selection, confirm: Confirm) -> Self {
        Self {
            services,
            tools: selection.tools.iter().map(|tool| wire_tool(tool)).collect(),
            selection,
            confirmations: Confirmations::new(confirm),
            subscription: Subscription::default(),
        }
    }

    fn resources(&self) -> Vec<Resource> {
        let own = self.services.daemon.is_some();
        let own = own.then_some([&resource::SYNC, &resource::TRASH]);
        resource::FIXED
            .iter()
            .chain(own.into_iter().flatten())
            .map(|fixed| {
                Resource::new(fixed.uri, fixed.name)
                    .with_description(fixed.description)
                    .with_mime_type(JSON)
            })
            .collect()
    }

    /// Runs a tool until it ends, fails, or the client cancels the call.
    async fn run_tool(
        &self,
        tool: &'static Tool,
        given: JsonObject,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult<ToolReply> {
        let arguments = Arguments::check(tool, given)?;
        let paths = match self.local_paths(tool, &arguments, request, context).await {
            PathsOrQuestion::Paths(paths) => paths,
            PathsOrQuestion::Ask(ask) => return Ok(ToolReply::Ask(ask)),
        };
        let (progress, reports) = Reporter::new();
        let mut call = Call {
            services: self.services.clone(),
            arguments,
            progress,
            paths,
            may_replace: self.services.may_replace,
        };
        let work = async move {
            match self
                .confirmations
                .decide(tool, &call, request, context)
                .await?
            {
                Decision::Ask(mut ask) => {
                    roots::keep_asking(request, &mut ask);
                    return Ok(ToolReply::Ask(ask));
                }
                Decision::Confirmed => call.may_replace = true,
                Decision::Proceed => {}
            }
            let work = with_progress(call::run(tool, call), reports, context);
            work.await.map(ToolReply::Result)
        };
        tokio::select! {
            result = AssertUnwindSafe(work).catch_unwind() => match result {
                Ok(result) => result,
                Err(_) => {
                    tracing::error!(tool = tool.name, "the tool panicked");
                    Err(ToolError::Internal)
                }
            },
            () = context.ct.cancelled() => Err(ToolError::Cancelled),
        }
    }

    /// Returns the local paths that a call may use, with the client's roots among them where the settings
    /// leave the choice to it and a path of the call is outside the other folders.
    async fn local_paths(
        &self,
        tool: &Tool,
        arguments: &Arguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> PathsOrQuestion {
        let files = &self.services.files;
        let mut given = tool.local_paths().filter_map(|name| arguments.text(name));
        let Some(first) = given.next() else {
            return PathsOrQuestion::Paths(LocalPaths::default());
        };
        let paths = LocalPaths::new(files.allowed_dirs(), files.private_dirs());
        let all_allowed = given
            .chain([first])
            .all(|path| paths.check(Path::new(path)).is_ok());
        if all_allowed || !files.allows_client_roots() {
            return PathsOrQuestion::Paths(paths);
        }
        match roots::of_client(request, context).await {
            ClientRoots::Ask(ask) => PathsOrQuestion::Ask(ask),
            ClientRoots::Listed(roots) => {
                let mut allowed = files.allowed_dirs();
                allowed.extend(roots);
                PathsOrQuestion::Paths(LocalPaths::new(allowed, files.private_dirs()))
            }
        }
    }
}

/// The local paths of a call, or what the client has to say first.
enum PathsOrQuestion {
    Paths(LocalPaths),
    Ask(InputRequiredResult),
}

/// The outcome of a call that did not fail.
enum ToolReply {
    Result(Value),
    Ask(InputRequiredResult),
}

/// Awaits the work and sends its progress to a client that asked for it. No progress is sent after the
/// result: it is the last message of the call.
async fn with_progress<T>(
    work: impl Future<Output = T>,
    mut reports: watch::Receiver<Report>,
    context: &RequestContext<RoleServer>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else {
        return work.await;
    };
    tokio::pin!(work);
    let mut sent: Option<Report> = None;
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
        let further = sent.as_ref().is_none_or(|sent| report.done > sent.done);
        let paused = last.is_none_or(|last| last.elapsed() >= PROGRESS_PAUSE);
        if further && (paused || report.total == Some(report.done)) {
            let mut param = ProgressNotificationParam::new(token.clone(), report.done as f64);
            param.total = report.total.map(|total| total as f64);
            param.message.clone_from(&report.message);
            send_progress(&context.peer, param).await;
            sent = Some(report);
            last = Some(Instant::now());
        }
    }
}

async fn send_progress(peer: &Peer<RoleServer>, param: ProgressNotificationParam) {
    if let Err(error) = peer.notify_progress(param).await {
        tracing::debug!(%error, "the progress notification was not sent");
    }
}

/// Refuses cursors: everything fits into one page, so none was ever given out.
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
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        if let Some(resources) = &mut capabilities.resources {
            // Only the state of sync changes by itself.
            resources.subscribe = self.services.daemon.is_some().then_some(true);
        }
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
        request: CallToolRequestParams,
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
        let result = match self.run_tool(tool, given, &request, &context).await {
            Ok(ToolReply::Ask(ask)) => return Ok(ask.into()),
            Ok(ToolReply::Result(value)) => response::success(tool, value),
            Err(error) => {
                tracing::info!(tool = tool.name, %error, "the tool failed");
                response::error(&error)
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
                    .with_description(template.description)
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

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        subscribe::accepted(&self.services)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        subscribe::listen(&self.services, context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let services = self.services.clone();
        self.subscription
            .begin(services, context.peer, &request.uri)
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscription.end();
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request.as_ref())?;
        let prompts = prompt::offered(&self.selection)
            .map(|prompt| {
                Prompt::new(prompt.name, Some(prompt.description), None).with_title(prompt.title)
            })
            .collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut offered = prompt::offered(&self.selection);
        let Some(prompt) = offered.find(|prompt| prompt.name == request.name) else {
            let name: String = request.name.chars().take(100).collect();
            return Err(ErrorData::invalid_params(
                format!("there is no prompt `{name}`: prompts/list names those there are"),
                None,
            ));
        };
        let message = PromptMessage::new_text(Role::User, prompt.text);
        let mut result = GetPromptResult::new(vec![message]);
        result.description = Some(prompt.description.to_owned());
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
