//! Small files stored as fast as the server takes them: batches here, one request each over WebDAV.
//!
//! The bytes are random: the server can't tell sealed content from it, and the client's own work is
//! measured by other rows.

use super::connection::{Connection, per_second, with_body};
use super::start::Servers;
use anyhow::{Result, bail};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::Instant;

/// Bytes of each file, as they are stored.
const SIZE: usize = 4096;
/// Files in a batch: the most that the service takes at once.
pub(super) const BATCH: usize = 256;

/// Returns files a second over Cairn's batches.
pub(super) fn batches(servers: &Servers) -> Result<f64> {
    per_second(servers.ports(), |connection, worker, end| {
        let mut random = ChaCha8Rng::seed_from_u64(worker as u64);
        let mut count = 0;
        while Instant::now() < end {
            let names = (0..BATCH).map(|at| (format!("{worker}-{count}-{at}"), None));
            let batch = Batch::new(servers.key(), &mut random, SIZE, names);
            batch.store(connection)?;
            count += BATCH;
        }
        Ok(count)
    })
}

/// Returns files a second over WebDAV.
pub(super) fn puts(port: u16) -> Result<f64> {
    per_second(&[port], |connection, worker, end| {
        let mut random = ChaCha8Rng::seed_from_u64(worker as u64);
        let mut content = vec![0; SIZE];
        let mut count = 0;
        while Instant::now() < end {
            random.fill_bytes(&mut content);
            let line = format!("PUT /{worker}-{count} HTTP/1.1");
            connection.ask(&with_body("none", &line, &content))?;
            count += 1;
        }
        Ok(count)
    })
}

/// A request that stores new files.
pub(super) struct Batch(Vec<u8>);

impl Batch {
    /// Makes files of so many bytes with these names, each in a folder (by its id) or at the top.
    pub(super) fn new(
        key: &str,
        random: &mut ChaCha8Rng,
        size: usize,
        names: impl Iterator<Item = (String, Option<String>)>,
    ) -> Self {
        let files: Vec<Value> = names
            .map(|(name, parent)| file(random, size, &name, parent.as_deref()))
            .collect();
        let mut content = vec![0; files.len() * size];
        random.fill_bytes(&mut content);
        let head = json!({ "files": files }).to_string();
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX);
        let body = [&length.to_be_bytes()[..], head.as_bytes(), &content].concat();
        let line =
            "POST /api/v1/uploads/batch HTTP/1.1\r\ncontent-type: application/vnd.cairn.frame";
        Self(with_body(key, line, &body))
    }

    /// Sends it.
    ///
    /// # Errors
    /// The server refuses it, or one of its files.
    pub(super) fn store(&self, connection: &mut Connection) -> Result<()> {
        let answer = connection.ask(&self.0)?;
        // A batch answers 200 also where it refused a file.
        if answer.windows(7).any(|part| part == b"\"error\"") {
            bail!("a file was refused: {}", String::from_utf8_lossy(answer));
        }
        Ok(())
    }
}

fn file(random: &mut ChaCha8Rng, size: usize, name: &str, parent: Option<&str>) -> Value {
    let mut chunk = [0; 32];
    random.fill_bytes(&mut chunk);
    let chunk: String = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "node_id": uuid(random),
        "revision_id": uuid(random),
        "parent_id": parent,
        "name": name,
        "size": size - 16,
        "chunks": [{"id": chunk, "size": size}],
        // About as long as the real ones.
        "manifest": "A".repeat(300),
    })
}

/// Returns a random id of version 4.
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
