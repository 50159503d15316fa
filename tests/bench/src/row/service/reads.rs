//! Reads as fast as they are answered.

use super::connection::{per_second as for_each, request};
use super::start::Servers;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::time::Instant;

/// Returns answers a second for the metadata of one node.
pub(super) fn of_one_node(servers: &Servers) -> Result<f64> {
    let node = servers
        .http()?
        .post("/api/v1/nodes/", &json!({"kind": "folder", "name": "read"}))?;
    let id = node["id"].as_str().context("a node without an id")?;
    let request = request(servers.key(), "GET", &format!("/api/v1/nodes/{id}"));
    per_second(servers.ports(), &request)
}

/// Returns answers a second; each connection sends its next request as soon as it has its answer.
pub(super) fn per_second(ports: &[u16], request: &[u8]) -> Result<f64> {
    for_each(ports, |connection, _, end| {
        let mut count = 0;
        while Instant::now() < end {
            connection.ask(request)?;
            count += 1;
        }
        Ok(count)
    })
}
