//! Ended sessions of assistants, for the command line.

use super::Server;
use crate::error::ToolError;
use crate::session_undo::{self, AssistantSession, Undone};
use cairn_api::ApiError;

/// The reason why the sessions can't be listed, or one of them can't be taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error(transparent)]
    Api(ApiError),
    #[error("{0}")]
    Other(String),
}

impl From<ToolError> for UndoError {
    fn from(error: ToolError) -> Self {
        let message = error.public_message();
        if let ToolError::Api(error) = error {
            Self::Api(error)
        } else {
            Self::Other(message)
        }
    }
}

impl Server {
    /// Returns the ended sessions of this account with changes that can be taken back, newest first.
    ///
    /// # Errors
    /// [`UndoError`] if the journals can't be read, or the service doesn't say which account it is.
    pub async fn ended_sessions(&self) -> Result<Vec<AssistantSession>, UndoError> {
        Ok(session_undo::ended_sessions(&self.services).await?)
    }

    /// Takes back what an ended session changed, newest change first, each where nothing newer stands in the way.
    ///
    /// # Errors
    /// [`UndoError`] for an unknown session; what can't be taken back is in the result.
    pub async fn undo_ended_session(&self, id: &str) -> Result<Undone, UndoError> {
        Ok(session_undo::undo_ended(&self.services, id).await?)
    }
}
