//! A receiver of webhooks that counts: whichever server delivers them, each has to come, and one server delivers at a
//! time.

use anyhow::{Result, bail};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for what is under way: a lease ends after five seconds.
const LONGEST: Duration = Duration::from_secs(60);

/// Deliveries to one webhook that are under way at once.
const UNDER_WAY: u64 = 4;

/// The receiver, for as long as the program runs.
pub(super) struct Receiver {
    pub(super) url: String,
    /// The number of times that each delivery came.
    counts: Arc<Mutex<HashMap<String, u64>>>,
}

impl Receiver {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}/", listener.local_addr()?);
        let counts: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
        let shared = counts.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counts = shared.clone();
                thread::spawn(move || {
                    // A server that was killed in the middle has delivered nothing.
                    if let Ok(Some(delivery)) = receive(stream) {
                        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                        *counts.entry(delivery).or_default() += 1;
                    }
                });
            }
        });
        Ok(Self { url, counts })
    }

    /// Waits until as many deliveries have come as `wanted`; returns what contradicts that, or that so many `ends` of
    /// servers don't explain how many came again.
    pub(super) fn contradictions(&self, wanted: usize, ends: u64) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let (came, all) = (counts.len(), counts.values().sum::<u64>());
            drop(counts);
            if came < wanted && begun.elapsed() < LONGEST {
                thread::sleep(Duration::from_millis(50));
                continue;
            }
            let again = all - came as u64;
            println!("{came} deliveries for {wanted} uploads, {again} more than once");
            let mut found = Vec::new();
            if came != wanted {
                found.push(format!("{came} deliveries came for {wanted} uploads"));
            }
            // A few are under way at once, and those of a server that is killed are delivered again.
            if again > ends * UNDER_WAY {
                found.push(format!(
                    "{again} deliveries came again after {ends} ends of servers"
                ));
            }
            return found;
        }
    }
}

/// Receives a delivery, and returns its id if it is about an upload; a new webhook gets a test event, too.
fn receive(stream: TcpStream) -> Result<Option<String>> {
    let mut reader = BufReader::new(&stream);
    let (mut delivery, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(id) = line.strip_prefix("x-service-delivery: ") {
            id.clone_into(&mut delivery);
        }
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    if delivery.is_empty() {
        bail!("it ended before it said which delivery it is");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    (&stream).write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")?;
    let body: Value = serde_json::from_slice(&body)?;
    Ok((body["event"] == "file.uploaded").then_some(delivery))
}
