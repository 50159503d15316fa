//! The protocol's requests, served from the catalogue.

use super::confirm::{Confirm, Confirmations};
use super::subscribe::{self, Subscription};
use super::tool_call::ToolReply;
use super::wire_tool::wire_tool;
use crate::error::ToolError;
use crate::foreign_text;
use crate::selection::Selection;
use crate::services::Services;
use crate::{instructions, once_in_call, prompt, resource, response};
use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CompletionInfo, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, GetTaskParams, GetTaskResult, Implementation, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use std::sync::Arc;

const JSON: &str = "application/json";
/// The time for which a client may keep the lists: an hour. They do not change while the server runs.
const LISTS_TTL_MS: u64 = 60 * 60 * 1000;

pub(super) struct Handler {
    pub(super) services: Arc<Services>,
    selection: Selection,
    pub(super) confirmations: Confirmations,
    subscription: Subscription,
}

impl Handler {
    pub(super) fn new(services: Arc<Services>, selection: Selection, confirm: Confirm) -> Self {
        Self {
            services,
            selection,
            confirmations: Confirmations::new(confirm),
            subscription: Subscription::default(),
        }
    }

    fn offers_subscription(&self) -> bool {
        self.services.daemon.is_some() && resource::SYNC.is_offered(&self.selection)
    }

    fn resources(&self) -> Vec<Resource> {
        let own = self.services.daemon.is_some();
        let own = own.then_some([&resource::SYNC, &resource::TRASH]);
        resource::FIXED
            .iter()
            .chain(own.into_iter().flatten())
            .filter(|fixed| fixed.is_offered(&self.selection))
            .map(|fixed| {
                Resource::new(fixed.uri, fixed.name)
                    .with_description(fixed.description)
                    .with_mime_type(JSON)
            })
            .collect()
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
            resources.subscribe = self.offers_subscription().then_some(true);
        }
        if self.services.tasks.is_some() {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        let mut server = Implementation::new("cairn", env!("CARGO_PKG_VERSION"));
        server.title = Some("Cairn".to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions::text(
                &self.selection,
                self.services.foreign_texts,
            ))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request.as_ref())?;
        // Made for each request: clients keep the list, and it would be a good part of what an idle server takes.
        let tools = self.selection.tools.iter().map(|tool| wire_tool(tool));
        Ok(ListToolsResult::with_all_items(tools.collect())
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Private))
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
        let outcome = self.run_tool(tool, given, &request, &context).await;
        let given = request.arguments.as_ref();
        let texts = self.services.foreign_texts;
        let result = match outcome {
            Ok(ToolReply::Ask(ask)) => return Ok(ask.into()),
            Ok(ToolReply::Task(task)) => return Ok((*task).into()),
            Ok(ToolReply::Finished(result)) => *result,
            Ok(ToolReply::Result(value)) => response::success(texts, tool, given, value),
            Err(error) => {
                tracing::info!(tool = tool.name, %error, "the tool failed");
                response::error(texts, &error, given)
            }
        };
        Ok(result.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let (_, task) = self.find_task(&request.task_id, &context).await?;
        let texts = self.services.foreign_texts;
        Ok(GetTaskResult::new(task.detailed(&request.task_id, texts)))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // A task asks nothing, so that there is nothing to respond to.
        self.find_task(&request.task_id, &context).await.map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.stop_task(&request.task_id, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request.as_ref())?;
        Ok(ListResourcesResult::with_all_items(self.resources())
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request.as_ref())?;
        let templates = resource::TEMPLATES
            .iter()
            .filter(|template| template.is_offered(&self.selection))
            .map(|template| {
                ResourceTemplate::new(template.uri(), template.name)
                    .with_description(template.description)
                    .with_mime_type(JSON)
            })
            .collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates)
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = tokio::select! {
            read = once_in_call::scope(resource::read(&self.services, &self.selection, &request.uri)) => read,
            () = context.ct.cancelled() => Some(ToolError::Cancelled.json()),
        };
        let Some(value) = read else {
            let uri: String = request.uri.chars().take(200).collect();
            return Err(ErrorData::resource_not_found(
                format!("there is no resource `{uri}`: resources/list names those there are"),
                Some(serde_json::json!({ "uri": uri })),
            ));
        };
        let text =
            ResourceContents::text(foreign_text::to_text(value), request.uri).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![text]).into())
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.offers_subscription().then(subscribe::sync_filter)
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
        subscribe::check(self.offers_subscription(), &request.uri)?;
        self.subscription.begin(self.services.clone(), context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        subscribe::check(self.offers_subscription(), &request.uri)?;
        self.subscription.end();
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request.as_ref())?;
        let prompts = prompt::offered_prompts(&self.selection)
            .map(|prompt| {
                Prompt::new(prompt.name, Some(prompt.description), None).with_title(prompt.title)
            })
            .collect();
        Ok(ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut offered = prompt::offered_prompts(&self.selection);
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
        let (reference, argument) = (&request.r#ref, &request.argument);
        // Only the ids in addresses can be completed: prompts take no arguments, so nothing of any of them is.
        let values = match reference.as_resource_uri() {
            Some(uri) => {
                let (name, typed) = (&argument.name, &argument.value);
                resource::complete(&self.services, &self.selection, uri, name, typed).await
            }
            None => Some(Vec::new()),
        };
        let values = values.ok_or_else(|| {
            let text = "there is nothing of that address: resources/list and resources/templates/list name what there is";
            ErrorData::invalid_params(text, None)
        })?;
        let info = CompletionInfo::with_all_values(values)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }
}
