//! `kill -9` of the server at any moment: a file that anyone ever saw has all its chunks (stored pieces) afterwards.

use super::server::{Server, request};
use bytes::Bytes;
use cairn_model::{ChunkId, NodeId, RevisionId};
use cairn_wire::transfer::{BatchFile, CompleteUpload, CreateUpload, SealedChunk, UploadBatch};
use cairn_wire::{Sealed, frame};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use uuid::Uuid;

const WRITERS: usize = 4;
/// The responses after which the server is killed, round by round: early, and in the thick of it.
const ROUNDS: [usize; 4] = [1, 7, 25, 60];

fn content(seed: usize) -> Bytes {
    let block = Sha256::digest(seed.to_be_bytes());
    block
        .iter()
        .copied()
        .cycle()
        .take(3_000 + seed % 5_000)
        .collect()
}

fn file(seed: usize) -> (BatchFile, Bytes) {
    let bytes = content(seed);
    let id = ChunkId(Sha256::digest(&bytes).into());
    let create = CreateUpload {
        node_id: NodeId(Uuid::new_v4()),
        revision_id: RevisionId(Uuid::new_v4()),
        base_revision_id: None,
        parent_id: None,
        name: Some(format!("file {seed}")),
        size: bytes.len() as u64,
        chunks: vec![SealedChunk {
            id,
            size: bytes.len() as u64,
        }],
        copy_of: None,
    };
    let complete = CompleteUpload {
        base_version: None,
        manifest: Sealed(seed.to_string().into_bytes()),
        modified_at: None,
        executable: false,
        seal: None,
    };
    (BatchFile { create, complete }, bytes)
}

/// Uploads one file chunk by chunk; tells whether the server said that it is there.
pub(crate) fn upload_single(address: &str, seed: usize) -> std::io::Result<bool> {
    let (file, bytes) = file(seed);
    let begun = request(
        address,
        "POST",
        "/api/v1/uploads",
        &serde_json::to_vec(&file.create)?,
    )?;
    let id = begun.json()["upload_id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let chunk = format!("/api/v1/uploads/{id}/chunks/{}", file.create.chunks[0].id);
    request(address, "PUT", &chunk, &bytes)?;
    let done = request(
        address,
        "POST",
        &format!("/api/v1/uploads/{id}/complete"),
        &serde_json::to_vec(&file.complete)?,
    )?;
    Ok(done.status == 200)
}

/// Uploads a batch of files.
pub(crate) fn batch(address: &str, seeds: &[usize]) -> std::io::Result<bool> {
    let (files, payload): (Vec<_>, Vec<_>) = seeds.iter().map(|seed| file(*seed)).unzip();
    let body = frame::encode(&UploadBatch { files }, &payload).map_err(std::io::Error::other)?;
    Ok(request(address, "POST", "/api/v1/uploads/batch", &body)?.status == 200)
}

/// Writes until the server is gone; sends the seeds of each answered upload.
fn write(address: &str, first: usize, responded: &mpsc::Sender<Vec<usize>>) {
    for step in 0.. {
        let seed = first + step * 10;
        let (seeds, outcome) = if step % 3 == 0 {
            let seeds: Vec<usize> = (seed..seed + 10).collect();
            let outcome = batch(address, &seeds);
            (seeds, outcome)
        } else {
            (vec![seed], upload_single(address, seed))
        };
        match outcome {
            Ok(true) if responded.send(seeds).is_ok() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// All files by name, each checked to be whole.
pub(crate) fn whole_files(server: &Server) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut after = String::new();
    loop {
        let page = server
            .call(
                "GET",
                &format!("/api/v1/changes/snapshot?limit=1000{after}"),
                b"",
            )
            .json();
        for node in page["nodes"].as_array().unwrap() {
            let name = node["name"].as_str().unwrap();
            let seed: usize = name.strip_prefix("file ").unwrap().parse().unwrap();
            let bytes = content(seed);
            let id = hex::encode(Sha256::digest(&bytes));
            let node_id = node["id"].as_str().unwrap();
            let got = server.call("GET", &format!("/api/v1/chunks/{id}?node={node_id}"), b"");
            assert_eq!(got.status, 200, "{name} lacks its chunk");
            assert_eq!(got.body, bytes, "{name}");
            found.insert(name.to_owned(), node.clone());
        }
        let Some(next) = page["next"].as_str() else {
            return found;
        };
        after = format!("&after={next}");
    }
}

fn objects(data: &Path) -> usize {
    let mut count = 0;
    let mut folders = vec![data.join("objects")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                count += 1
            }
        }
    }
    count
}

#[test]
fn every_node_has_its_chunks_after_a_kill_in_the_middle_of_uploads() {
    let dir = tempfile::tempdir().unwrap();
    let mut promised = Vec::new();
    for (round, responses) in ROUNDS.into_iter().enumerate() {
        let server = Server::on(dir.path());
        let (sender, receiver) = mpsc::channel();
        let address = server.address.clone();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (sender, address) = (sender.clone(), address.clone());
                let first = (round * WRITERS + writer) * 1_000_000;
                thread::spawn(move || write(&address, first, &sender))
            })
            .collect();
        drop(sender);
        promised.extend(receiver.iter().take(responses).flatten());
        server.kill();
        promised.extend(receiver.iter().flatten());
        for writer in writers {
            writer.join().unwrap();
        }
    }
    let server = Server::on(dir.path());
    let found = whole_files(&server);
    for seed in &promised {
        assert!(
            found.contains_key(&format!("file {seed}")),
            "file {seed} was answered and is gone"
        );
    }
    assert!(found.len() >= ROUNDS.iter().sum::<usize>());
    let feed = server.call("GET", "/api/v1/changes?limit=1", b"").json();
    assert_eq!(feed["has_more"], true);
    let used = server
        .call("GET", "/api/v1/userusage/quota-limit", b"")
        .json();
    assert_eq!(used["file_count"].as_u64(), Some(found.len() as u64));
    assert!(server.terminate());
    assert!(objects(dir.path()) > 0);
}

#[test]
fn an_upload_goes_on_where_a_kill_has_cut_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut file, first) = file(1);
    let second = content(2);
    let id = ChunkId(Sha256::digest(&second).into());
    file.create.chunks.push(SealedChunk {
        id,
        size: second.len() as u64,
    });
    let server = Server::on(dir.path());
    let begun = server
        .call(
            "POST",
            "/api/v1/uploads",
            &serde_json::to_vec(&file.create).unwrap(),
        )
        .json();
    let path = format!("/api/v1/uploads/{}", begun["upload_id"].as_str().unwrap());
    let put = |server: &Server, chunk: ChunkId, bytes: &[u8]| {
        assert_eq!(
            server
                .call("PUT", &format!("{path}/chunks/{chunk}"), bytes)
                .status,
            204
        );
    };
    put(&server, file.create.chunks[0].id, &first);
    let epoch = server.call("GET", "/api/v1/health", b"").json()["epoch"].clone();
    server.kill();
    let server = Server::on(dir.path());
    assert_eq!(
        server.call("GET", "/api/v1/health", b"").json()["epoch"],
        epoch
    );
    let resumed = server.call("GET", &path, b"").json();
    assert_eq!(resumed["missing"], serde_json::json!([id]));
    put(&server, id, &second);
    let complete = serde_json::to_vec(&file.complete).unwrap();
    let node = server.call("POST", &format!("{path}/complete"), &complete);
    assert_eq!(node.status, 200);
    server.kill();
    let server = Server::on(dir.path());
    let again = server.call("POST", &format!("{path}/complete"), &complete);
    assert_eq!(again.json(), node.json(), "the answer may have been lost");
}
