//! The cost of a list, a page of the feed and a commit while a space grows to a million nodes.

use super::connection::{Connection, SPAN, request, with_body};
use super::start;
use super::writes::{BATCH, Batch};
use crate::peer::Tool;
use crate::row::{Bench, clear};
use crate::table::{Measure, Results};
use anyhow::{Context as _, Result};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::Instant;

pub(crate) const TITLE: &str = "a space of 10,000 to 1,000,000 nodes";

/// Files of each folder. One folder in ten has ten others beside them.
const FILES: usize = 99;
/// Bytes of each file, as they are stored: what it costs must be its row alone.
const SIZE: usize = 32;
/// Changes on a page of the feed.
const PAGE: usize = 100;

/// The titles of the rows for a number of nodes.
pub(crate) struct Step {
    nodes: usize,
    pub(crate) list: &'static str,
    pub(crate) feed: &'static str,
    pub(crate) commit: &'static str,
}

pub(crate) const STEPS: [Step; 3] = [
    Step {
        nodes: 10_000,
        list: "10,000 nodes: a folder of 100, listed",
        feed: "10,000 nodes: the last 100 changes, read",
        commit: "10,000 nodes: a file, stored alone",
    },
    Step {
        nodes: 100_000,
        list: "100,000 nodes: a folder of 100, listed",
        feed: "100,000 nodes: the last 100 changes, read",
        commit: "100,000 nodes: a file, stored alone",
    },
    Step {
        nodes: 1_000_000,
        list: "1,000,000 nodes: a folder of 100, listed",
        feed: "1,000,000 nodes: the last 100 changes, read",
        commit: "1,000,000 nodes: a file, stored alone",
    },
];

pub(crate) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    if !bench.has(Tool::Cairn) {
        return Ok(());
    }
    let dir = bench.part("size")?;
    let servers = start::one(&dir)?;
    let port = *servers.ports().first().context("no server")?;
    let mut space = Space {
        key: servers.key(),
        connection: Connection::open(port)?,
        random: ChaCha8Rng::seed_from_u64(1),
        folders: Vec::new(),
        stored: 0,
    };
    for step in &STEPS {
        space.grow(bench.files(step.nodes))?;
        let mut add = |title, value| results.add(title, Measure::PerSecond, Tool::Cairn, value);
        add(step.list, space.lists()?);
        add(step.feed, space.pages()?);
        add(step.commit, space.commits()?);
    }
    drop(servers);
    clear(&dir)
}

/// The space that grows, and the connection that asks for it.
struct Space<'a> {
    key: &'a str,
    connection: Connection,
    random: ChaCha8Rng,
    folders: Vec<String>,
    /// Files so far.
    stored: usize,
}

impl Space<'_> {
    fn json(&mut self, request: &[u8]) -> Result<Value> {
        Ok(serde_json::from_slice(self.connection.ask(request)?)?)
    }

    /// Adds folders and files until there are so many of both.
    fn grow(&mut self, nodes: usize) -> Result<()> {
        while self.folders.len() + self.stored < nodes {
            if self.stored >= self.folders.len() * FILES {
                self.add_folder()?;
            }
            let free = self.folders.len() * FILES - self.stored;
            self.add_files(free.min(BATCH))?;
        }
        Ok(())
    }

    /// Adds a folder to one of the first tenth of all, so that none has many.
    fn add_folder(&mut self) -> Result<()> {
        let number = self.folders.len();
        let parent = number.checked_sub(1).map(|last| &self.folders[last / 10]);
        let body = json!({
            "kind": "folder", "name": format!("folder {number}"), "parent_id": parent,
        });
        let line = "POST /api/v1/nodes/ HTTP/1.1\r\ncontent-type: application/json";
        let made = self.json(&with_body(self.key, line, body.to_string().as_bytes()))?;
        let id = made["id"].as_str().context("a folder without an id")?;
        self.folders.push(id.to_owned());
        Ok(())
    }

    /// Adds so many files to the last folder.
    fn add_files(&mut self, number: usize) -> Result<()> {
        let parent = self.folders.last().cloned();
        let names = (0..number).map(|at| (format!("file {}", self.stored + at), parent.clone()));
        let batch = Batch::new(self.key, &mut self.random, SIZE, names);
        batch.store(&mut self.connection)?;
        self.stored += number;
        Ok(())
    }

    /// Returns how often a second something can be done, one after the other.
    fn often(&mut self, mut what: impl FnMut(&mut Self) -> Result<()>) -> Result<f64> {
        let begun = Instant::now();
        let mut count = 0_u32;
        while begun.elapsed() < SPAN {
            what(self)?;
            count += 1;
        }
        Ok(f64::from(count) / begun.elapsed().as_secs_f64())
    }

    fn lists(&mut self) -> Result<f64> {
        self.often(|space| {
            let folder = &space.folders[space.random.random_range(0..space.folders.len())];
            let path = format!("/api/v1/nodes?parent_id={folder}&page_size=100");
            space.connection.ask(&request(space.key, "GET", &path))?;
            Ok(())
        })
    }

    fn pages(&mut self) -> Result<f64> {
        let before = self.json(&request(
            self.key,
            "GET",
            "/api/v1/changes/snapshot?limit=1",
        ))?;
        let cursor = before["cursor"].as_str().context("no position")?;
        let path = format!("/api/v1/changes?limit={PAGE}&cursor={cursor}");
        self.add_folder()?;
        self.add_files(FILES)?;
        let page = self.json(&request(self.key, "GET", &path))?;
        let changes = page["changes"].as_array().map_or(0, Vec::len);
        anyhow::ensure!(changes == PAGE, "a page of {changes} changes");
        self.often(|space| {
            space.connection.ask(&request(space.key, "GET", &path))?;
            Ok(())
        })
    }

    fn commits(&mut self) -> Result<f64> {
        self.often(|space| {
            if space.stored >= space.folders.len() * FILES {
                space.add_folder()?;
            }
            space.add_files(1)
        })
    }
}
