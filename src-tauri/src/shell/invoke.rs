//! The Tauri command for the calls of the window.

use crate::commands::{Call, Commands};
use crate::program::ProgramError;
use serde_json::Value;
use std::sync::Arc;
use tauri::State;

/// Runs a call of the window and returns its reply.
#[tauri::command]
pub(super) async fn call(
    call: Call,
    commands: State<'_, Arc<Commands>>,
) -> Result<Value, ProgramError> {
    commands.handle(call).await
}
