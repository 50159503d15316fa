//! The server: one process, one client, on stdin and stdout.

mod confirm;
mod ended_call;
mod handler;
#[cfg(feature = "http")]
mod http;
mod open_questions;
mod roots;
mod subscribe;
mod task;
mod tool_call;
mod transport;
mod undo;
mod unreadable;
mod wire_tool;

use crate::device_trust::DeviceTrust;
use crate::rewinder::Rewinder;
use crate::selection::{Selection, ToolFilter, ToolFilterError};
use crate::services::{Account, LocalFiles, Services};
use crate::session_file::SessionFiles;
use crate::session_link_tools::LinkTools;
use crate::task_files::TaskFiles;
use crate::tasks;
use crate::text_policy::ForeignTexts;
use cairn_api::ApiError;
use handler::Handler;
use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use transport::LineTransport;

pub use confirm::Confirm;
pub use undo::UndoError;

/// The settings of a server.
pub struct Settings {
    pub account: Account,
    pub filter: ToolFilter,
    pub confirm: Confirm,
    pub trust: Arc<dyn DeviceTrust>,
    pub files: Arc<dyn LocalFiles>,
    /// True to replace local files without a question.
    pub overwrite: bool,
    /// The socket of this user's daemon, if one runs and its tools are wanted.
    pub daemon: Option<PathBuf>,
    /// The journals of sessions; without them a session can only be taken back by its own process.
    pub sessions: Option<Arc<dyn SessionFiles>>,
    /// Brings folders back to a time.
    pub rewinder: Option<Arc<dyn Rewinder>>,
    /// The treatment of texts that other people wrote.
    pub foreign_texts: ForeignTexts,
    /// The place of long transfers that go on without this process; without it, none does.
    pub tasks: Option<Arc<dyn TaskFiles>>,
}

/// An error that stops a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    ToolFilter(#[from] ToolFilterError),
    #[error("{0}")]
    Account(#[from] ApiError),
    #[error("the client and this server have no protocol version in common: {0}")]
    Handshake(Box<ServerInitializeError>),
    #[error("the server ended unexpectedly: {0}")]
    Ended(String),
}

/// Returns the changes of links that the offered tools make.
fn link_tools(selection: &Selection) -> LinkTools {
    let is_offered = |name| selection.find(name).is_some();
    LinkTools {
        deletes: is_offered("delete_share_link"),
        changes: is_offered("update_share_link"),
    }
}

/// A server that is ready to start.
pub struct Server {
    handler: Handler,
    services: Arc<Services>,
}

impl Server {
    /// Checks the settings without any request.
    ///
    /// # Errors
    /// [`ServeError::Choice`] and [`ServeError::Account`].
    pub fn new(settings: Settings) -> Result<Self, ServeError> {
        let selection = Selection::new(&settings.filter, settings.daemon.is_some())?;
        let mut services = Services::new(
            settings.account,
            settings.trust,
            settings.files,
            settings.overwrite,
            settings.daemon,
            settings.sessions,
            link_tools(&selection),
        )?;
        services.rewinder = settings.rewinder;
        services.foreign_texts = settings.foreign_texts;
        services.tasks = settings.tasks;
        let services = Arc::new(services);
        Ok(Self {
            handler: Handler::new(services.clone(), selection, settings.confirm),
            services,
        })
    }

    /// Does the work of a task: runs the call that [`TaskFiles::start`] was given, and writes its result.
    ///
    /// # Errors
    /// A task or call that can't be read, and the error of writing the result; those of the call are its result.
    pub async fn run_task(self, id: &str, call: &str) -> io::Result<()> {
        let files = self.services.tasks.clone();
        let files = files.ok_or(io::ErrorKind::Unsupported)?;
        tasks::run(self.services, files.as_ref(), id, call).await
    }

    /// Serves one client until its input ends.
    ///
    /// # Errors
    /// [`ServeError::Handshake`] and [`ServeError::Ended`].
    pub async fn serve<R, W>(self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let services = self.services;
        let input_ended = services.input_ended.clone();
        let opening = tokio::spawn(async move { services.open_keys_early().await });
        let transport = LineTransport::new(reader, writer, input_ended);
        let ended = match self.handler.serve(transport).await {
            Ok(running) => match running.waiting().await {
                Ok(QuitReason::JoinError(error)) | Err(error) => {
                    Err(ServeError::Ended(error.to_string()))
                }
                Ok(_) => Ok(()),
            },
            // A client that leaves before it has said anything is no failure.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Handshake(Box::new(error))),
        };
        opening.abort();
        ended
    }
}
