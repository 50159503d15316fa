//! What the window's page can call.

use crate::calls::{Call, Desk};
use crate::program::Fault;
use serde_json::Value;
use std::sync::Arc;
use tauri::State;

/// Answers a request of the window.
#[tauri::command]
pub(super) async fn call(call: Call, desk: State<'_, Arc<Desk>>) -> Result<Value, Fault> {
    desk.answer(call).await
}
