//! The service under load: reads and small files beside WebDAV's, and many subscribers of the change
//! stream.

mod writes;

use super::Bench;
use crate::peer::{Service, Tool, free_port, serve_with_rclone, wait_for_listener};
use crate::table::{Measure, Results};
use anyhow::{Context, Result, bail};
use cairn_e2e::binaries;
use cairn_e2e::http::Http;
use cairn_e2e::server::OWNER_KEY;
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const TITLE: &str = "metadata of one file, read over 16 connections at once";
const WRITES: &str = "files of 4 KiB, stored over 16 connections at once";
const STREAM: &str = "a change, until 1,000 subscribers of the stream have heard of it";
const CONNECTIONS: usize = 16;
const SUBSCRIBERS: usize = 1000;
const SPAN: Duration = Duration::from_secs(5);
/// A client that reads as fast as it can would meet the limits that protect a service from it.
const NO_LIMITS: &str = "[rate_limits]\nread = 100000000\nwrite = 100000000\ncontent = 100000000\n";

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    let dir = bench.part("service")?;
    if bench.has(Tool::Cairn) {
        let port = free_port()?;
        let _server = cairn_server(&dir, port)?;
        let http = Http::new(&format!("http://127.0.0.1:{port}"), Some(OWNER_KEY));
        let node = http.post("/api/v1/nodes/", &json!({"kind": "folder", "name": "read"}))?;
        let id = node["id"].as_str().context("a node without an id")?;
        let path = format!("/api/v1/nodes/{id}");
        results.add(
            TITLE,
            Measure::PerSecond,
            Tool::Cairn,
            reads(port, "GET", &path)?,
        );
        results.add(
            WRITES,
            Measure::PerSecond,
            Tool::Cairn,
            writes::batches(port)?,
        );
        results.add(
            STREAM,
            Measure::Seconds,
            Tool::Cairn,
            last_reader(bench, port, &http)?,
        );
    }
    if bench.has(Tool::Rclone) {
        let port = free_port()?;
        let _server = webdav(&dir, port)?;
        results.add(
            TITLE,
            Measure::PerSecond,
            Tool::Rclone,
            reads(port, "HEAD", "/read")?,
        );
        results.add(
            WRITES,
            Measure::PerSecond,
            Tool::Rclone,
            writes::puts(port)?,
        );
    }
    super::clear(&dir)
}

fn cairn_server(dir: &Path, port: u16) -> Result<Service> {
    let config = dir.join("server.toml");
    fs::write(&config, NO_LIMITS)?;
    let server = Command::new(binaries::server()?)
        .args(["serve", "--dev", "--data"])
        .arg(dir.join("data"))
        .arg("--config")
        .arg(config)
        .args(["--listen", &format!("127.0.0.1:{port}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(dir.join("server.log"))?)
        .spawn()
        .context("the server can't be started")?;
    let server = Service(server);
    wait_for_listener(port)?;
    Ok(server)
}

fn webdav(dir: &Path, port: u16) -> Result<Service> {
    let store = dir.join("webdav");
    fs::create_dir_all(&store)?;
    fs::write(store.join("read"), "content")?;
    serve_with_rclone("webdav", &store, port, &dir.join("webdav.log"))
}

fn request(method: &str, path: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {OWNER_KEY}\r\n\r\n"
    )
}

/// Returns responses a second; each connection sends its next request as soon as it has its response.
fn reads(port: u16, method: &str, path: &str) -> Result<f64> {
    let request = request(method, path);
    let has_body = method != "HEAD";
    let begun = Instant::now();
    let counts: Vec<Result<u64>> = thread::scope(|scope| {
        let readers: Vec<_> = (0..CONNECTIONS)
            .map(|_| scope.spawn(|| reader(port, &request, has_body, begun + SPAN)))
            .collect();
        readers
            .into_iter()
            .map(|reader| reader.join().unwrap_or_else(|_| bail!("a reader panicked")))
            .collect()
    });
    let took = begun.elapsed().as_secs_f64();
    let responses: u64 = counts.into_iter().sum::<Result<u64>>()?;
    Ok(responses as f64 / took)
}

fn reader(port: u16, request: &str, has_body: bool, end: Instant) -> Result<u64> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    let mut responses = BufReader::new(stream.try_clone()?);
    let mut requests = stream;
    let mut count = 0;
    let mut body = Vec::new();
    while Instant::now() < end {
        requests.write_all(request.as_bytes())?;
        let length = head(&mut responses)?;
        if has_body {
            body.resize(length, 0);
            responses.read_exact(&mut body)?;
        }
        count += 1;
    }
    Ok(count)
}

/// Reads the head of a good response; gives the length of its body.
fn head(responses: &mut BufReader<TcpStream>) -> Result<usize> {
    let mut line = String::new();
    responses.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 20") {
        bail!("the answer is `{}`", line.trim());
    }
    let mut length = 0;
    loop {
        line.clear();
        if responses.read_line(&mut line)? == 0 {
            bail!("the answer broke off");
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            return Ok(length);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
}

/// Seconds from a change until the last of many subscribers has read its event.
fn last_reader(bench: &Bench, port: u16, http: &Http) -> Result<f64> {
    let request = request("GET", "/api/v1/changes/stream");
    let mut subscribers = Vec::new();
    for _ in 0..bench.files(SUBSCRIBERS) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.write_all(request.as_bytes())?;
        let mut responses = BufReader::new(stream);
        head(&mut responses)?;
        subscribers.push(responses);
    }
    let begun = Instant::now();
    http.post("/api/v1/nodes/", &json!({"kind": "folder", "name": "told"}))?;
    for responses in &mut subscribers {
        let mut line = String::new();
        while !line.starts_with("event: change") {
            line.clear();
            if responses.read_line(&mut line)? == 0 {
                bail!("a stream broke off");
            }
        }
    }
    Ok(begun.elapsed().as_secs_f64())
}
