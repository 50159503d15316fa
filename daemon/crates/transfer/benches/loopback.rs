//! Prints how long transfers over loopback take, the bundled server in the same process: one file of
//! 1 GiB up, again with a small edit, and down; 10,000 small files up and down.

use cairn_api::{Api, ApiKey, HttpTransport};
use cairn_crypto::{Random as _, SpaceKeys, SystemRandom};
use cairn_model::{DeviceId, NodeId, RevisionId};
use cairn_server::{Options as ServerOptions, build, serve};
use cairn_transfer::{
    Download, FileSource, FileTarget, Options, SmallUpload, Transfer, Upload, UploadTarget,
    Uploaded,
};
use cairn_wire::nodes::Node;
use std::error::Error;
use std::fs::File;
use std::future::pending;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;

type BenchResult<T> = Result<T, Box<dyn Error>>;

const MIB: u64 = 1024 * 1024;
const BIG: u64 = 1024 * MIB;
const SMALL_FILES: usize = 10_000;

#[tokio::main]
async fn main() -> BenchResult<()> {
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let data = tempfile::tempdir()?;
    let app = build(ServerOptions {
        data: data.path().join("server"),
        ..ServerOptions::default()
    })?;
    app.add_user("ada@example.com", "a long password")?;
    let key = app.create_api_key("ada@example.com")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { serve(&app, listener, pending()).await });

    let device = DeviceId::from_random_bytes([3; 16]);
    let api = Api::new(
        Arc::new(HttpTransport::default()),
        &address,
        None,
        Arc::new(ApiKey::new(key)),
        device,
    )?;
    let api = Arc::new(api);
    let space = api.account().await?.space_id;
    let keys = Arc::new(SpaceKeys::from_raw(space, 1, &[7; 32])?);
    let transfer = Transfer::new(api.clone(), keys, device, Options::default());
    big(&transfer, data.path()).await?;
    measure_small(&transfer).await
}

async fn big(transfer: &Transfer, folder: &Path) -> BenchResult<()> {
    let path = folder.join("big");
    let mut file = File::create(&path)?;
    let mut block = vec![0; usize::try_from(MIB)?];
    for _ in 0..BIG / MIB {
        SystemRandom.fill(&mut block);
        file.write_all(&block)?;
    }
    let new = UploadTarget::New {
        node: node_id(),
        parent: None,
        name: "big".to_owned(),
    };
    let begin = Instant::now();
    let node = committed_node(transfer.upload(whole_upload(new, &path), &()).await?)?;
    report("1 GiB up", begin, BIG);

    file.seek(SeekFrom::Start(BIG / 2))?;
    file.write_all(b"sixteen new ones")?;
    let next = UploadTarget::Revision {
        node: node.id,
        parent: None,
        name: node.name.clone(),
        base: node.revision_id.ok_or("a file without a revision")?,
        number: 2,
        replaced: None,
        seal_seq: 2,
        version: None,
    };
    let begin = Instant::now();
    let node = committed_node(transfer.upload(whole_upload(next, &path), &()).await?)?;
    report("16 bytes edited", begin, BIG);

    let target = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(folder.join("down"))?;
    let begin = Instant::now();
    transfer
        .download(current(&node)?, Arc::new(FileTarget::new(target)), &())
        .await?;
    report("1 GiB down", begin, BIG);
    Ok(())
}

async fn measure_small(transfer: &Transfer) -> BenchResult<()> {
    let mut total = 0;
    let mut files = Vec::with_capacity(SMALL_FILES);
    for n in 0..SMALL_FILES {
        // 20 KB on average, as a folder of documents and sources has.
        let mut bytes = vec![0; 1000 + (n * 7919) % 38_000];
        SystemRandom.fill(&mut bytes);
        total += bytes.len() as u64;
        let file = SmallUpload {
            target: UploadTarget::New {
                node: node_id(),
                parent: None,
                name: format!("small {n}"),
            },
            revision: RevisionId::from_random_bytes(random()),
            bytes,
            modified_ms: 0,
            executable: false,
            skip_if: None,
        };
        files.push(((), file));
    }
    let begin = Instant::now();
    let sent = transfer.upload_batch(files, &()).await;
    report("10,000 small up", begin, total);
    let mut downloads = Vec::with_capacity(SMALL_FILES);
    for (key, sent) in sent {
        downloads.push((key, current(&committed_node(sent?)?)?));
    }
    let begin = Instant::now();
    for ((), file) in transfer.download_batch(downloads, total, &()).await {
        file?;
    }
    report("10,000 small down", begin, total);
    Ok(())
}

fn whole_upload(target: UploadTarget, path: &Path) -> Upload {
    Upload {
        target,
        revision: RevisionId::from_random_bytes(random()),
        source: Arc::new(FileSource(path.to_owned())),
        size: BIG,
        modified_ms: 0,
        executable: false,
        skip_if: None,
        resume: None,
    }
}

fn committed_node(uploaded: Uploaded) -> BenchResult<Node> {
    match uploaded {
        Uploaded::Committed { node, .. } => Ok(*node),
        Uploaded::Unchanged => Err("nothing was uploaded".into()),
    }
}

fn current(node: &Node) -> BenchResult<Download> {
    Ok(Download::new(
        node.id,
        node.revision_id.ok_or("a file without a revision")?,
    ))
}

fn node_id() -> NodeId {
    NodeId::from_random_bytes(random())
}

fn random() -> [u8; 16] {
    let mut out = [0; 16];
    SystemRandom.fill(&mut out);
    out
}

#[expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]
fn report(what: &str, begin: Instant, bytes: u64) {
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{what:<18} {seconds:>7.2} s {:>8.0} MB/s",
        bytes as f64 / seconds / 1e6
    );
}
