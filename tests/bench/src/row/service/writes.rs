//! Small files stored as fast as the server takes them: batches here, one request each over WebDAV.
//!
//! The bytes are random: the server can't tell sealed content from it, and the client's own work is
//! measured by other rows.

use super::{CONNECTIONS, SPAN, head};
use anyhow::{Result, bail};
use cairn_e2e::server::OWNER_KEY;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::io::{BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Instant;

/// Bytes of each file, as they are stored.
const SIZE: usize = 4096;
/// Files in a batch: the most that the service takes at once.
const BATCH: usize = 256;

/// Files a second over Cairn's batches.
pub(super) fn batches(port: u16) -> Result<f64> {
    files(port, BATCH, |random, worker, number| {
        let names = (0..BATCH).map(|at| format!("{worker}-{number}-{at}"));
        let described: Vec<Value> = names.map(|name| file(random, &name)).collect();
        let head = serde_json::to_vec(&json!({ "files": described })).unwrap_or_default();
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        let mut content = vec![0; BATCH * SIZE];
        random.fill_bytes(&mut content);
        let body = [&length.to_be_bytes()[..], &head, &content].concat();
        let line =
            "POST /api/v1/uploads/batch HTTP/1.1\r\ncontent-type: application/vnd.cairn.frame";
        request(line, &body)
    })
}

/// Files a second over WebDAV.
pub(super) fn puts(port: u16) -> Result<f64> {
    files(port, 1, |random, worker, number| {
        let mut content = vec![0; SIZE];
        random.fill_bytes(&mut content);
        request(&format!("PUT /{worker}-{number} HTTP/1.1"), &content)
    })
}

fn file(random: &mut ChaCha8Rng, name: &str) -> Value {
    let mut chunk = [0; 32];
    random.fill_bytes(&mut chunk);
    let chunk: String = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "node_id": uuid(random),
        "revision_id": uuid(random),
        "name": name,
        "size": SIZE - 16,
        "chunks": [{"id": chunk, "size": SIZE}],
        // About as long as the real ones.
        "manifest": "A".repeat(300),
    })
}

/// A random id of version 4.
fn uuid(random: &mut ChaCha8Rng) -> String {
    let bits: u128 = random.random();
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-4{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )
}

fn request(line: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{line}\r\nhost: 127.0.0.1\r\nauthorization: Bearer {OWNER_KEY}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn files(
    port: u16,
    each: usize,
    make: impl Fn(&mut ChaCha8Rng, usize, usize) -> Vec<u8> + Sync,
) -> Result<f64> {
    let begun = Instant::now();
    let work = |worker: usize| -> Result<usize> {
        let mut random = ChaCha8Rng::seed_from_u64(worker as u64);
        let mut requests = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        requests.set_nodelay(true)?;
        let mut responses = BufReader::new(requests.try_clone()?);
        let mut number = 0;
        let mut body = Vec::new();
        while begun.elapsed() < SPAN {
            requests.write_all(&make(&mut random, worker, number))?;
            body.resize(head(&mut responses)?, 0);
            responses.read_exact(&mut body)?;
            // A batch answers 200 also where it refused a file.
            if each > 1 && body.windows(7).any(|w| w == b"\"error\"") {
                bail!("a file was refused: {}", String::from_utf8_lossy(&body));
            }
            number += 1;
        }
        Ok(number * each)
    };
    let counts: Vec<Result<usize>> = thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..CONNECTIONS)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("a writer panicked")))
            .collect()
    });
    let took = begun.elapsed().as_secs_f64();
    let files: usize = counts.into_iter().sum::<Result<usize>>()?;
    Ok(files as f64 / took)
}
