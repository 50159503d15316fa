//! One call of a tool: its arguments, its local paths, the question to a person, its run with progress, and its
//! end when the client cancels it.

use super::confirm::Decision;
use super::ended_call;
use super::handler::Handler;
use super::roots::{self, ClientRoots};
use crate::arguments::Arguments;
use crate::call::{self, Call};
use crate::error::{ToolError, ToolResult};
use crate::local_paths::LocalPaths;
use crate::node_argument;
use crate::outcome;
use crate::progress::{Report, Reporter};
use crate::subject::Subject;
use crate::text_policy::ForeignTexts;
use crate::time_limit::TimeLimit;
use crate::tool::Tool;
use futures_util::FutureExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CreateTaskResult, InputRequiredResult, JsonObject,
    ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The shortest time between two progress notifications.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

impl Handler {
    /// Runs a tool until it ends, fails, or the client cancels the call.
    pub(super) async fn run_tool(
        &self,
        tool: &'static Tool,
        given: JsonObject,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult<ToolReply> {
        let arguments = Arguments::check(tool, given)?;
        self.services.foreign_texts.check_offered(tool)?;
        let paths = match self.local_paths(tool, &arguments, request, context).await {
            PathsOrQuestion::Paths(paths) => paths,
            PathsOrQuestion::Ask(ask) => return Ok(ToolReply::Ask(ask)),
        };
        let (progress, reports) = Reporter::new();
        let mut call = self.unconfirmed_call(arguments, progress, paths);
        let has_begun = &AtomicBool::new(false);
        let changes = &self.services.changes_sent;
        let sent_before = changes.count();
        let may_be_done = || {
            let has_sent = changes.count() != sent_before;
            has_begun.load(Ordering::Relaxed) && ended_call::may_have_changed(tool, has_sent)
        };
        let work = async move {
            let mut limit = TimeLimit::start(tool.name);
            let paths = node_argument::replace_paths(tool, &mut call.arguments, &call.services);
            limit.prepare(Box::pin(paths)).await?;
            match self
                .confirmations
                .decide(tool, &call, limit, request, context)
                .await?
            {
                Decision::Ask(mut ask) => {
                    roots::keep_asking(request, &mut ask);
                    return Ok(ToolReply::Ask(ask));
                }
                Decision::Confirmed => {
                    call.is_confirmed = true;
                    // The person may have taken their time.
                    limit = TimeLimit::start(tool.name);
                }
                Decision::NothingToAsk => call.has_no_question = true,
                Decision::NothingLeftToAsk => {
                    call.has_no_question = true;
                    limit = TimeLimit::start(tool.name);
                }
                Decision::Proceed => {}
            }
            if let Some(reply) = self.run_as_task(tool, &call, request, context).await? {
                return Ok(reply);
            }
            let texts = self.services.foreign_texts;
            has_begun.store(true, Ordering::Relaxed);
            let work = with_progress(call::run(tool, call, limit), reports, context, texts);
            work.await.map(ToolReply::Result)
        };
        // On the heap: each layer around a future takes as much of the stack again.
        run_until_cancelled(tool, Box::pin(work), context, may_be_done).await
    }

    /// Returns a call about which nobody was asked yet.
    fn unconfirmed_call(
        &self,
        arguments: Arguments,
        progress: Reporter,
        paths: LocalPaths,
    ) -> Call {
        Call {
            services: self.services.clone(),
            arguments,
            progress,
            paths,
            may_replace: self.services.may_replace,
            is_confirmed: false,
            has_no_question: false,
            subject: Subject::default(),
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
        let paths = self.paths_in(files.allowed_dirs());
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
                PathsOrQuestion::Paths(self.paths_in(allowed))
            }
        }
    }

    fn paths_in(&self, allowed: Vec<PathBuf>) -> LocalPaths {
        let files = &self.services.files;
        LocalPaths::new(allowed, files.private_dirs()).with_private_mark(files.private_mark())
    }
}

/// Runs the work of a call until it ends or the client cancels it, and asks then whether it may have changed something.
async fn run_until_cancelled<T>(
    tool: &Tool,
    work: impl Future<Output = ToolResult<T>>,
    context: &RequestContext<RoleServer>,
    may_be_done: impl Fn() -> bool,
) -> ToolResult<T> {
    let error = tokio::select! {
        result = AssertUnwindSafe(work).catch_unwind() => match result {
            Ok(result) => return result,
            Err(_) => {
                tracing::error!(tool = tool.name, "the tool panicked");
                ToolError::Internal
            }
        },
        () = context.ct.cancelled() => ToolError::Cancelled,
    };
    Err(if may_be_done() {
        outcome::of_ended_call(tool.name, error)
    } else {
        error
    })
}

/// The local paths of a call, or what the client has to say first.
enum PathsOrQuestion {
    Paths(LocalPaths),
    Ask(InputRequiredResult),
}

/// The outcome of a call that did not fail.
pub(super) enum ToolReply {
    Result(Value),
    /// A result in the form in which clients get it.
    Finished(Box<CallToolResult>),
    Task(Box<CreateTaskResult>),
    Ask(InputRequiredResult),
}

/// Awaits the work and sends its progress to a client that asked for it. No progress is sent after the
/// result: it is the last message of the call.
async fn with_progress<T>(
    work: impl Future<Output = T>,
    mut reports: watch::Receiver<Report>,
    context: &RequestContext<RoleServer>,
    texts: ForeignTexts,
) -> T {
    let Some(token) = context.meta.get_progress_token() else {
        return work.await;
    };
    tokio::pin!(work);
    let mut sent: Option<Report> = None;
    let mut last = None::<Instant>;
    loop {
        let mut ended = None;
        tokio::select! {
            done = &mut work => ended = Some(done),
            changed = reports.changed() => {
                if changed.is_err() {
                    return work.await;
                }
            }
        }
        let report = reports.borrow_and_update().clone();
        let further = match &sent {
            Some(sent) => report.done > sent.done,
            None => report != Report::default(),
        };
        let paused = last.is_none_or(|last| last.elapsed() >= PROGRESS_PAUSE);
        // The last one is sent, however soon it comes after the one before.
        if further && (paused || ended.is_some() || report.total == Some(report.done)) {
            let mut param = ProgressNotificationParam::new(token.clone(), report.done as f64);
            param.total = report.total.map(|total| total as f64);
            param.message = texts.progress_message(report.message.clone());
            send_progress(&context.peer, param).await;
            sent = Some(report);
            last = Some(Instant::now());
        }
        if let Some(ended) = ended {
            return ended;
        }
    }
}

async fn send_progress(peer: &Peer<RoleServer>, param: ProgressNotificationParam) {
    if let Err(error) = peer.notify_progress(param).await {
        tracing::debug!(%error, "the progress notification was not sent");
    }
}
