//! The requests that a device sends, recorded for a test.

use crate::device::Device;
use std::sync::{Arc, Mutex, PoisonError};

/// Addresses that each device asks again and again: news, the names of devices, what
/// others see, and hourly what the service has lost.
const ROUTINE: [&str; 4] = [
    "/api/v1/changes",
    "/api/v1/checkpoints",
    "/api/v1/devices",
    "/api/v1/chunks/damaged",
];

/// Records the requests of a device from now on, without those that it sends again and again.
#[must_use]
pub fn listen(device: &Device) -> Arc<Mutex<Vec<String>>> {
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&requests);
    device.line.lie(Some(Box::new(move |path, status, body| {
        if !ROUTINE.iter().any(|start| path.starts_with(start)) {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(path.to_owned());
        }
        (status, body)
    })));
    requests
}

/// Returns what was recorded since the last call.
pub fn take_requests(requests: &Mutex<Vec<String>>) -> Vec<String> {
    std::mem::take(&mut requests.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the requests since the last call that carry content, or say what a content is made of.
pub fn of_content(requests: &Mutex<Vec<String>>) -> Vec<String> {
    let mut requests = take_requests(requests);
    requests.retain(|path| path.contains("/uploads") || path.contains("/chunks"));
    requests
}
