//! The work of clients on a cluster, each in a thread of its own, and those who read its feed meanwhile.

use super::client::{Client, Draw};
use super::history::{Event, Operation};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::io::BufRead as _;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The state that all threads have in common.
pub(super) struct Load {
    pub(super) client: Client,
    pub(super) begun: Instant,
    pub(super) ended: AtomicBool,
    /// Ids of the files that all of them write.
    pub(super) files: Vec<String>,
    /// Folders that were acknowledged, and when (microseconds).
    pub(super) made: Mutex<Vec<(String, u64)>>,
    /// The folder that is made when all clients have ended.
    pub(super) last: Mutex<Option<String>>,
}

/// The changes that a reader of the feed has read.
#[derive(Default)]
pub(super) struct Heard {
    /// Positions and nodes.
    pub(super) feed: Vec<(u64, String)>,
    /// The time at which each of them came, in microseconds.
    pub(super) at: Vec<u64>,
}

impl Load {
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Reads, writes and makes folders until the end; returns what was done to files.
    pub(super) fn work(&self, mut draw: Draw) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        let mut known: Vec<Option<String>> = vec![None; self.files.len()];
        while !self.has_ended() {
            let file = draw.below(self.files.len());
            if draw.below(10) < 2 {
                let id = draw.uuid();
                self.client.make_folder(&id)?;
                let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
                made.push((id, self.now()));
                continue;
            }
            let begun = self.now();
            // Some write over what is no longer current, and have to be refused.
            let base = known[file].clone().filter(|_| draw.below(10) < 6);
            let operation = match base {
                None => {
                    let found = self.read(file)?;
                    known[file] = Some(found.clone());
                    Operation::Read { found }
                }
                Some(base) => {
                    let new = draw.uuid();
                    if self.client.write(&self.files[file], Some(&base), &new)? {
                        known[file] = Some(new.clone());
                        Operation::Wrote { base, new }
                    } else {
                        known[file] = None;
                        Operation::Refused { base }
                    }
                }
            };
            let ended = self.now();
            events.push(Event {
                file,
                begun,
                ended,
                operation,
            });
        }
        Ok(events)
    }

    fn read(&self, file: usize) -> Result<String> {
        let node = self
            .client
            .get(&format!("/api/v1/nodes/{}", self.files[file]))?;
        let found = node["revision_id"]
            .as_str()
            .context("a file without a revision")?;
        Ok(found.to_owned())
    }

    /// Reads the feed page by page until the last change.
    pub(super) fn follow(&self, mut cursor: String) -> Result<Heard> {
        let mut heard = Heard::default();
        while !self.is_last(&heard) {
            let path = format!("/api/v1/changes?limit=100&cursor={cursor}");
            let page = self.client.get(&path)?;
            cursor = heard.note(&page, self.now())?;
            if page["has_more"] != true {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(heard)
    }

    /// Returns true once the change has been heard of that comes after all others.
    fn is_last(&self, heard: &Heard) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = heard.feed.last().map(|(_, node)| node);
        last.is_some() && latest == last.as_ref()
    }

    /// Listens to the stream of changes, again and again, until the last change.
    pub(super) fn listen(&self, mut cursor: String) -> Result<Heard> {
        let mut heard = Heard::default();
        while !self.is_last(&heard) {
            let Ok(stream) = self.client.stream(&cursor) else {
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            // A server that is killed ends it.
            for line in stream.lines().map_while(Result::ok) {
                let Some(data) = line.strip_prefix("data:") else {
                    continue;
                };
                let Ok(page) = serde_json::from_str::<Value>(data) else {
                    continue;
                };
                cursor = heard.note(&page, self.now())?;
                if self.is_last(&heard) {
                    break;
                }
            }
        }
        Ok(heard)
    }
}

impl Heard {
    /// Notes a page of changes, and returns the position after it.
    fn note(&mut self, page: &Value, now: u64) -> Result<String> {
        for change in page["changes"].as_array().context("no list of changes")? {
            let seq = change["seq"]
                .as_u64()
                .context("a change without a position")?;
            let node = change["node_id"].as_str().context("a change of no node")?;
            self.feed.push((seq, node.to_owned()));
            self.at.push(now);
        }
        let cursor = page["cursor"]
            .as_str()
            .context("no position after a page")?;
        Ok(cursor.to_owned())
    }
}
