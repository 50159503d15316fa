//! Subscribers of the change stream.

use super::connection::{Connection, request};
use super::start::Servers;
use anyhow::Result;
use serde_json::json;
use std::time::Instant;

/// Returns the seconds from a change at the first server until the last of so many subscribers, which are spread over
/// all servers, has read its event.
pub(super) fn last_reader(servers: &Servers, subscribers: usize) -> Result<f64> {
    let request = request(servers.key(), "GET", "/api/v1/changes/stream");
    let mut streams = Vec::new();
    for port in servers.ports().iter().cycle().take(subscribers) {
        let mut stream = Connection::open(*port)?;
        stream.send(&request)?;
        stream.head()?;
        streams.push(stream);
    }
    let http = servers.http()?;
    let name = format!("change for {subscribers}");
    let begun = Instant::now();
    http.post("/api/v1/nodes/", &json!({"kind": "folder", "name": name}))?;
    for stream in &mut streams {
        while !stream.line()?.starts_with("event: change") {}
    }
    Ok(begun.elapsed().as_secs_f64())
}
