//! The check of a cluster's history: clients at work while servers are killed and the database fails over.

use super::client::{Client, Draw};
use super::deliveries::Receiver;
use super::history::{Event, contradictions, gaps};
use super::load::{Heard, Load};
use super::{Cluster, SERVERS};
use anyhow::{Context as _, Result, bail};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Clients that work, beside two that read the feed.
const CLIENTS: usize = 6;
/// Files that all of them write.
const FILES: usize = 4;
/// The interval at which a server is killed.
const KILL_EVERY: Duration = Duration::from_secs(2);
/// The longest time in which nothing may succeed, in microseconds, beside the time that PostgreSQL itself takes until
/// the replica can be written to.
const LONGEST_GAP: u64 = 3_000_000;
/// The longest median time until a stream tells of a change, in microseconds: without news from the other servers it
/// would be seconds.
const LONGEST_NEWS: u64 = 500_000;

/// Disturbances, with times in microseconds since the load began.
#[derive(Default)]
struct Disturbed {
    kills: u64,
    /// The beginning and the end of the failover.
    failover: (u64, u64),
}

/// Observations of the clients.
struct Seen {
    disturbed: Disturbed,
    events: Vec<Event>,
    pages: Heard,
    stream: Heard,
}

/// Runs the check for so many seconds.
///
/// # Errors
/// Contradictions to the promises; programs that can't be run.
pub(crate) fn run(seconds: u64) -> Result<()> {
    let seed = std::time::UNIX_EPOCH.elapsed()?.as_secs();
    println!("seed {seed}");
    let mut cluster = Cluster::start()?;
    let receiver = Receiver::start()?;
    let load = prepare(&cluster, seed, &receiver.url)?;
    let start = load.client.get("/api/v1/changes/snapshot?limit=1")?;
    let start = start["cursor"].as_str().context("no position")?.to_owned();
    let seen = thread::scope(|scope| -> Result<Seen> {
        let workers: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let draw = Draw::new(seed.wrapping_add(1 + number as u64));
                let load = &load;
                scope.spawn(move || load.work(draw))
            })
            .collect();
        let pages = scope.spawn(|| load.follow(start.clone()));
        let stream = scope.spawn(|| load.listen(start.clone()));
        let disturbed = disturb(&mut cluster, &load, Duration::from_secs(seconds));
        load.ended.store(true, Ordering::SeqCst);
        let mut events = Vec::new();
        for worker in workers {
            events.extend(result_of(worker.join())??);
        }
        // Whoever reads the feed ends with a last change.
        let end = Draw::new(seed).uuid();
        *load.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(end.clone());
        load.client.make_folder(&end)?;
        let (pages, stream) = (result_of(pages.join())??, result_of(stream.join())??);
        Ok(Seen {
            disturbed: disturbed?,
            events,
            pages,
            stream,
        })
    })?;
    judge(&load, &seen, &receiver)
}

fn result_of<T>(result: thread::Result<T>) -> Result<T> {
    match result {
        Ok(value) => Ok(value),
        Err(_) => bail!("a client's thread panicked"),
    }
}

/// Makes a webhook, and the files that all clients write.
fn prepare(cluster: &Cluster, seed: u64, receiver: &str) -> Result<Load> {
    let client = Client::new(&cluster.url(), &cluster.key);
    client.make_webhook(receiver)?;
    let mut draw = Draw::new(!seed);
    let files: Vec<String> = (0..FILES).map(|_| draw.uuid()).collect();
    for file in &files {
        if !client.write(file, None, &draw.uuid())? {
            bail!("a new file was refused");
        }
    }
    Ok(Load {
        client,
        begun: Instant::now(),
        ended: AtomicBool::new(false),
        files,
        made: Mutex::default(),
        last: Mutex::default(),
    })
}

/// Kills servers one after the other, and in the middle lets the database fail over.
fn disturb(cluster: &mut Cluster, load: &Load, time: Duration) -> Result<Disturbed> {
    let begun = Instant::now();
    let mut done = Disturbed::default();
    for number in 0.. {
        let next = KILL_EVERY * (number + 1);
        if next >= time {
            break;
        }
        // A span of the load, not a wait for an event.
        thread::sleep(next.saturating_sub(begun.elapsed()));
        if done.failover.1 == 0 && begun.elapsed() * 2 >= time {
            let from = load.now();
            cluster.fail_over()?;
            done.failover = (from, load.now());
        }
        cluster.restart(number as usize % SERVERS)?;
        done.kills += 1;
    }
    Ok(done)
}

/// Returns the revisions of a file, oldest first.
fn revisions(client: &Client, file: &str) -> Result<Vec<String>> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for page in 1.. {
        let path = format!("/api/v1/nodes/{file}/revisions?page_size=100&page={page}");
        let body = client.get(&path)?;
        for revision in body["content"]
            .as_array()
            .context("a page without content")?
        {
            let number = revision["number"].as_u64().context("no number")?;
            found.push((number, revision["id"].as_str().context("no id")?.to_owned()));
        }
        if body["totalPages"].as_u64().unwrap_or_default() <= page {
            break;
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// Returns the longest time in which nothing has succeeded, without that of a failover, and when it began.
fn longest_gap(events: &[Event], failover: (u64, u64)) -> (u64, u64) {
    // From the beginning on.
    let ends = events.iter().map(|event| event.ended);
    let mut ends: Vec<u64> = std::iter::once(0).chain(ends).collect();
    ends.sort_unstable();
    let gaps = ends.windows(2).map(|pair| {
        let overlap = pair[1]
            .min(failover.1)
            .saturating_sub(pair[0].max(failover.0));
        (pair[1] - pair[0] - overlap, pair[0])
    });
    gaps.max().unwrap_or((u64::MAX, 0))
}

/// Returns the median time from the acknowledgement of a folder until the stream told of it.
fn median_news(made: &[(String, u64)], stream: &Heard) -> u64 {
    let heard_at: HashMap<&str, u64> = stream
        .feed
        .iter()
        .zip(&stream.at)
        .map(|((_, node), at)| (node.as_str(), *at))
        .collect();
    let mut times: Vec<u64> = made
        .iter()
        .filter_map(|(node, at)| Some(heard_at.get(node.as_str())?.saturating_sub(*at)))
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(u64::MAX)
}

fn judge(load: &Load, seen: &Seen, receiver: &Receiver) -> Result<()> {
    let mut found = Vec::new();
    let mut written = 0;
    for (number, file) in load.files.iter().enumerate() {
        let order = revisions(&load.client, file)?;
        written += order.len();
        found.extend(contradictions(number, &order, &seen.events));
    }
    // A failover is one more end of what was under way.
    found.extend(receiver.contradictions(written, seen.disturbed.kills + 1));
    let made = load.made.lock().unwrap_or_else(PoisonError::into_inner);
    let nodes: HashSet<String> = made.iter().map(|(node, _)| node.clone()).collect();
    found.extend(gaps("page by page", &seen.pages.feed, &nodes));
    found.extend(gaps("the stream", &seen.stream.feed, &nodes));
    let failover = seen.disturbed.failover;
    let (gap, since) = longest_gap(&seen.events, failover);
    let news = median_news(&made, &seen.stream);
    println!(
        "{} operations on {FILES} files, {written} revisions, {} folders; longest time without a success {} ms \
         (after {} ms), beside {} ms of the failover (after {} ms); median until the stream tells of a change {} ms",
        seen.events.len(),
        nodes.len(),
        gap / 1000,
        since / 1000,
        (failover.1 - failover.0) / 1000,
        failover.0 / 1000,
        news / 1000
    );
    if gap > LONGEST_GAP {
        found.push(format!("nothing succeeded for {} ms", gap / 1000));
    }
    if news > LONGEST_NEWS {
        found.push(format!("the stream is {} ms late", news / 1000));
    }
    if written < 20 || nodes.len() < 5 {
        found.push("too little was done to show anything".to_owned());
    }
    if found.is_empty() {
        println!("no contradiction");
        return Ok(());
    }
    bail!("{} contradictions:\n{}", found.len(), found.join("\n"))
}
