//! The service under load: one server beside WebDAV's, several servers on one database, and spaces that grow.

mod connection;
mod reads;
mod several;
mod size;
mod start;
mod stream;
mod writes;

pub(super) use several::{TITLE as SEVERAL, run as run_several};
pub(super) use size::run as run_size;
pub(crate) use size::{STEPS, TITLE as SIZE};

use self::connection::request;
use super::Bench;
use crate::peer::{Service, Tool, free_port, serve_with_rclone};
use crate::table::{Measure, Results};
use anyhow::Result;
use std::fs;
use std::path::Path;

pub(super) const TITLE: &str = "metadata of one file, read over 16 connections at once";
const WRITES: &str = "files of 4 KiB, stored over 16 connections at once";
const STREAM: &str = "a change, until 1,000 subscribers of the stream have heard of it";
const LONG_STREAM: &str = "a change, until 10,000 subscribers have heard of it";

pub(super) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    let dir = bench.part("service")?;
    if bench.has(Tool::Cairn) {
        let servers = start::one(&dir)?;
        let mut add = |title, measure, value| results.add(title, measure, Tool::Cairn, value);
        add(TITLE, Measure::PerSecond, reads::of_one_node(&servers)?);
        add(WRITES, Measure::PerSecond, writes::batches(&servers)?);
        let (few, many) = (bench.files(1_000), bench.files(10_000));
        add(
            STREAM,
            Measure::Seconds,
            stream::last_reader(&servers, few)?,
        );
        add(
            LONG_STREAM,
            Measure::Seconds,
            stream::last_reader(&servers, many)?,
        );
    }
    if bench.has(Tool::Rclone) {
        let port = free_port()?;
        let _server = webdav(&dir, port)?;
        let mut add = |title, value| results.add(title, Measure::PerSecond, Tool::Rclone, value);
        add(
            TITLE,
            reads::per_second(&[port], &request("none", "HEAD", "/read"))?,
        );
        add(WRITES, writes::puts(port)?);
    }
    super::clear(&dir)
}

fn webdav(dir: &Path, port: u16) -> Result<Service> {
    let store = dir.join("webdav");
    fs::create_dir_all(&store)?;
    fs::write(store.join("read"), "content")?;
    serve_with_rclone("webdav", &store, port, &dir.join("webdav.log"))
}
