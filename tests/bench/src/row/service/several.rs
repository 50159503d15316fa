//! Servers on one database of PostgreSQL, one and three.

use super::{reads, start, stream, writes};
use crate::peer::Tool;
use crate::row::{Bench, clear};
use crate::table::{Measure, Results};
use anyhow::Result;

pub(crate) const TITLE: &str = "servers on PostgreSQL";

/// The titles of the rows for a number of servers.
struct Rows {
    servers: usize,
    reads: &'static str,
    writes: &'static str,
    stream: &'static str,
    long_stream: &'static str,
}

const ROWS: [Rows; 2] = [
    Rows {
        servers: 1,
        reads: "one server on PostgreSQL: metadata of one file, read over 16 connections at once",
        writes: "one server on PostgreSQL: files of 4 KiB, stored over 16 connections at once",
        stream: "one server on PostgreSQL: a change, until 1,000 subscribers have heard of it",
        long_stream: "one server on PostgreSQL: a change, until 10,000 subscribers have heard of it",
    },
    Rows {
        servers: 3,
        reads: "three servers on PostgreSQL: metadata of one file, read over 16 connections at once",
        writes: "three servers on PostgreSQL: files of 4 KiB, stored over 16 connections at once",
        stream: "three servers on PostgreSQL: a change, until 1,000 subscribers have heard of it",
        long_stream: "three servers on PostgreSQL: a change, until 10,000 subscribers have heard of it",
    },
];

pub(crate) fn run(bench: &Bench, results: &mut Results) -> Result<()> {
    let Some(url) = bench.postgres.as_deref().filter(|_| bench.has(Tool::Cairn)) else {
        eprintln!("no --postgres: servers on PostgreSQL are left out");
        return Ok(());
    };
    for rows in &ROWS {
        let dir = bench.part("servers")?;
        // Each measurement has an empty part of the database.
        let schema = format!("bench_{:x}", std::time::UNIX_EPOCH.elapsed()?.as_nanos());
        let servers = start::several(&dir, rows.servers, url, &schema)?;
        let mut add = |title, measure, value| results.add(title, measure, Tool::Cairn, value);
        add(
            rows.reads,
            Measure::PerSecond,
            reads::of_one_node(&servers)?,
        );
        add(rows.writes, Measure::PerSecond, writes::batches(&servers)?);
        let (few, many) = (bench.files(1_000), bench.files(10_000));
        let measured = stream::last_reader(&servers, few)?;
        add(rows.stream, Measure::Seconds, measured);
        let measured = stream::last_reader(&servers, many)?;
        add(rows.long_stream, Measure::Seconds, measured);
        drop(servers);
        clear(&dir)?;
    }
    Ok(())
}
