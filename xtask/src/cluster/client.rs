//! A client of the cluster: it repeats what has no answer with the same ids, as every client does.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::io::{BufReader, Read as _};
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::{Request, Response};

/// The wait between two tries.
const RETRY: Duration = Duration::from_millis(20);
/// The longest time in which a request has to get its answer.
const LONGEST: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const MOST: u64 = 64 * 1024 * 1024;

/// Numbers and ids that are the same for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    seed: u64,
    drawn: u64,
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    fn bytes(&mut self) -> [u8; 32] {
        self.drawn += 1;
        let mut hash = blake3::Hasher::new();
        hash.update(&self.seed.to_le_bytes());
        hash.update(&self.drawn.to_le_bytes());
        *hash.finalize().as_bytes()
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::from(u16::from_le_bytes([self.bytes()[0], self.bytes()[1]])) % end.max(1)
    }

    /// Returns a random UUID (version 4).
    pub(super) fn uuid(&mut self) -> String {
        let bytes = self.bytes();
        let mut id = [0; 16];
        id.copy_from_slice(&bytes[..16]);
        id[6] = id[6] & 0x0f | 0x40;
        id[8] = id[8] & 0x3f | 0x80;
        let hex = u128::from_be_bytes(id);
        let hex = format!("{hex:032x}");
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    }
}

/// The answer to a request.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

/// Sends requests as the cluster's account.
#[derive(Clone)]
pub(super) struct Client {
    url: String,
    key: String,
    agent: Agent,
}

impl Client {
    pub(super) fn new(url: &str, key: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(Duration::from_secs(2)))
            .timeout_recv_response(Some(Duration::from_secs(10)))
            .http_status_as_error(false)
            .max_idle_connections(0)
            .build();
        Self {
            url: url.to_owned(),
            key: key.to_owned(),
            agent: config.into(),
        }
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> Result<Response<ureq::Body>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", format!("Bearer {}", self.key));
        Ok(if matches!(method, "GET" | "DELETE") {
            self.agent.run(request.body(())?)?
        } else {
            self.agent.run(request.body(body)?)?
        })
    }

    fn once(&self, method: &str, path: &str, body: &[u8]) -> Result<Answer> {
        let mut response = self.send(method, path, body)?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(MOST)
            .read_to_string()?;
        // nginx answers pages of its own where no server does.
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Answer { status, body })
    }

    /// Sends a request until it has an answer that is not about a server that failed.
    ///
    /// # Errors
    /// No such answer in time.
    pub(super) fn ask(&self, method: &str, path: &str, body: &[u8]) -> Result<Answer> {
        let begun = Instant::now();
        loop {
            let last = match self.once(method, path, body) {
                Ok(answer) if answer.status < 500 => return Ok(answer),
                // Neither a server that was killed nor a database that is away is a mistake of a server.
                Ok(answer) if answer.status == 500 => {
                    bail!("{method} {path}: status 500: {}", answer.body)
                }
                Ok(answer) => format!("status {}: {}", answer.status, answer.body),
                Err(error) => format!("{error:#}"),
            };
            if begun.elapsed() > LONGEST {
                bail!("{method} {path} has no answer within {LONGEST:?}: {last}");
            }
            std::thread::sleep(RETRY);
        }
    }

    /// The same for a request that has to succeed.
    pub(super) fn get(&self, path: &str) -> Result<Value> {
        let answer = self.ask("GET", path, &[])?;
        if answer.status != 200 {
            bail!("GET {path}: status {}: {}", answer.status, answer.body);
        }
        Ok(answer.body)
    }

    /// Makes a folder with an id of its own.
    pub(super) fn make_folder(&self, id: &str) -> Result<()> {
        let body = json!({"id": id, "kind": "folder", "name": id}).to_string();
        let answer = self.ask("POST", "/api/v1/nodes", body.as_bytes())?;
        if !matches!(answer.status, 200 | 201) {
            bail!("a new folder: status {}: {}", answer.status, answer.body);
        }
        Ok(())
    }

    /// Makes a webhook for uploads.
    pub(super) fn make_webhook(&self, url: &str) -> Result<()> {
        let body = json!({"url": url, "events": ["file.uploaded"]}).to_string();
        let answer = self.ask("POST", "/api/v1/webhooks", body.as_bytes())?;
        if answer.status != 201 {
            bail!("a webhook: status {}: {}", answer.status, answer.body);
        }
        Ok(())
    }

    /// Makes a revision of a file in place of `base`, or a new file; returns false if another one is current.
    pub(super) fn write(&self, node: &str, base: Option<&str>, new: &str) -> Result<bool> {
        let content = format!("content of {new}");
        let chunk = blake3::hash(content.as_bytes()).to_hex();
        let mut create = json!({
            "node_id": node, "revision_id": new, "size": content.len(),
            "chunks": [{"id": chunk.as_str(), "size": content.len()}],
        });
        match base {
            Some(base) => create["base_revision_id"] = json!(base),
            None => create["name"] = json!(node),
        }
        let begun = self.ask("POST", "/api/v1/uploads", create.to_string().as_bytes())?;
        if begun.status == 409 {
            return Ok(false);
        }
        let upload = begun.body["upload_id"].as_str();
        let upload =
            upload.with_context(|| format!("an upload: {} {}", begun.status, begun.body))?;
        for missing in begun.body["missing"].as_array().into_iter().flatten() {
            let id = missing.as_str().unwrap_or_default();
            let path = format!("/api/v1/uploads/{upload}/chunks/{id}");
            let answer = self.ask("PUT", &path, content.as_bytes())?;
            // The upload may have ended with an attempt whose answer was lost.
            if !matches!(answer.status, 204 | 404 | 409) {
                bail!("a chunk: status {}: {}", answer.status, answer.body);
            }
        }
        let complete = json!({"manifest": "bWFuaWZlc3Q="}).to_string();
        let path = format!("/api/v1/uploads/{upload}/complete");
        let done = self.ask("POST", &path, complete.as_bytes())?;
        match done.status {
            200 => Ok(true),
            409 => Ok(false),
            status => bail!("completing an upload: status {status}: {}", done.body),
        }
    }

    /// Opens the stream of changes after a position.
    pub(super) fn stream(&self, cursor: &str) -> Result<BufReader<impl std::io::Read + use<>>> {
        let response = self.send(
            "GET",
            &format!("/api/v1/changes/stream?cursor={cursor}"),
            &[],
        )?;
        if response.status() != 200 {
            bail!("the stream: status {}", response.status());
        }
        Ok(BufReader::new(
            response.into_body().into_reader().take(u64::MAX),
        ))
    }
}
