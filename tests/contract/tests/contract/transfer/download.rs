//! Downloads: whole, resumed, copied from a local file, limited.

use crate::transfer::world::{
    Heard, World, bytes, next_of, node, revision, unwrap_committed, upload, with_file,
};
use cairn_api::ApiError;
use cairn_transfer::{
    Blocking, BytesSource, Download, FileTarget, MemoryTarget, Nearby, Source, SourceReader,
    Target as _, TransferError, UploadTarget,
};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const MIB: usize = 1024 * 1024;

fn chunk_requests(world: &World) -> usize {
    world.server.state(|s| {
        s.requests
            .iter()
            .filter(|r| r.starts_with("GET /api/v1/chunks"))
            .count()
    })
}

#[tokio::test]
async fn what_is_in_the_target_already_is_not_fetched_again() {
    let content = bytes(1, 10 * MIB);
    let (world, _) = with_file(Blocking::Threads, &content).await;
    let lengths = world.lengths(node(1), &content);
    let (chunks, first_three) = (lengths.len(), lengths[..3].iter().sum::<usize>());
    let mut damaged = content.clone();
    damaged[first_three + 5] ^= 1;
    let longer = [&content[..], b"and more"].concat();
    let cases = [
        (content.clone(), 0),
        (longer, 0),
        (content[..first_three].to_vec(), chunks - 3),
        (content[..first_three + 1].to_vec(), chunks - 3),
        (damaged, 1),
        (bytes(5, 10 * MIB), chunks),
        (Vec::new(), chunks),
    ];
    for (present, fetched) in cases {
        // The list of the chunks is fetched each time.
        let before = chunk_requests(&world);
        let length = present.len();
        let target = Arc::new(MemoryTarget::new(present));
        let heard = Heard::default();
        world
            .transfer
            .download(Download::new(node(1), revision(1)), target.clone(), &heard)
            .await
            .unwrap();
        assert_eq!(
            chunk_requests(&world) - before,
            fetched + 1,
            "from {length} bytes"
        );
        assert!(target.take() == content);
        assert_eq!(
            heard.moved.lock().unwrap().last(),
            Some(&(content.len() as u64, content.len() as u64))
        );
    }
}

#[tokio::test]
async fn what_the_replaced_version_has_is_not_fetched_again() {
    let content = bytes(1, 8 * MIB);
    let (world, _) = with_file(Blocking::Threads, &content).await;
    let mut edited = content.clone();
    edited[4 * MIB..4 * MIB + 16].fill(7);
    // Moved on by a few bytes as well: chunks are found wherever they are.
    let mut other = edited.clone();
    other.splice(0..0, *b"in front");
    for (older, most) in [(edited, 4), (other, 5), (bytes(2, MIB), u64::MAX)] {
        let before = chunk_requests(&world);
        let target = Arc::new(MemoryTarget::new(Vec::new()));
        let older = Arc::new(BytesSource(older.into()));
        let download = Download::new(node(1), revision(1));
        let done =
            world
                .transfer
                .download_over(download, target.clone(), Nearby::Earlier(older), &());
        done.await.unwrap();
        let fetched = chunk_requests(&world) - before;
        assert!(fetched > 0 && fetched as u64 <= most, "{fetched} chunks");
        assert!(target.take() == content);
    }
}

/// A file of which each byte that is read counts.
struct Counting {
    content: Vec<u8>,
    read: Arc<AtomicU64>,
}

struct CountingReader(Cursor<Vec<u8>>, Arc<AtomicU64>);

impl Source for Counting {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        let content = Cursor::new(self.content.clone());
        Ok(Box::new(CountingReader(content, self.read.clone())))
    }
}

impl Read for CountingReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(out)?;
        self.1.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for CountingReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[tokio::test]
async fn a_version_that_was_changed_in_place_is_read_once() {
    let content = bytes(1, 16 * MIB);
    let (world, _) = with_file(Blocking::Threads, &content).await;
    let mut edited = content.clone();
    edited[8 * MIB..8 * MIB + 16].fill(7);
    let mut moved = edited.clone();
    moved.rotate_right(100);
    // What has the same length may be another content all the same: its chunks are looked for then.
    for (older, most_read, most) in [(edited, 1, 3), (moved, 3, 6)] {
        let before = chunk_requests(&world);
        let target = Arc::new(MemoryTarget::new(Vec::new()));
        let read = Arc::new(AtomicU64::new(0));
        let older = Counting {
            content: older,
            read: read.clone(),
        };
        let nearby = Nearby::Earlier(Arc::new(older));
        let download = Download::new(node(1), revision(1));
        let done = world
            .transfer
            .download_over(download, target.clone(), nearby, &());
        done.await.unwrap();
        assert!(target.take() == content);
        let fetched = chunk_requests(&world) - before;
        assert!(fetched <= most, "{fetched} chunks");
        let read = read.load(Ordering::Relaxed);
        assert!(read <= most_read * content.len() as u64, "{read} bytes");
    }
}

#[tokio::test]
async fn a_version_that_was_fetched_from_here_is_read_once_wherever_its_chunks_are() {
    let content = bytes(1, 16 * MIB);
    let (sender, _) = with_file(Blocking::Threads, &content).await;
    let receiver = World::with(
        sender.server.clone(),
        sender.keys.clone(),
        Blocking::Threads,
    );
    let first = sender.server.state(|state| state.nodes[&node(1)].clone());
    let next = next_of(&sender, &first, 2);
    let UploadTarget::Revision { replaced, .. } = &next else {
        panic!("it is a revision");
    };
    receiver.get(replaced.unwrap()).await.unwrap();
    let mut longer = content.clone();
    longer.splice(0..0, *b"in front");
    let sent = sender.put(upload(next, revision(2), &longer)).await;
    unwrap_committed(sent);
    // A file that is another one than what was fetched last costs time, and nothing else.
    for (older, most_read, most) in [(content.clone(), 1, 3), (content[1..].to_vec(), 3, 4)] {
        let before = chunk_requests(&receiver);
        let target = Arc::new(MemoryTarget::new(Vec::new()));
        let read = Arc::new(AtomicU64::new(0));
        let older = Counting {
            content: older,
            read: read.clone(),
        };
        let nearby = Nearby::Earlier(Arc::new(older));
        // Without a checked record it is not kept as the last one.
        let download = Download::new(node(1), revision(2));
        let done = receiver
            .transfer
            .download_over(download, target.clone(), nearby, &());
        done.await.unwrap();
        assert!(target.take() == longer);
        let fetched = chunk_requests(&receiver) - before;
        assert!(fetched <= most, "{fetched} chunks");
        let read = read.load(Ordering::Relaxed);
        assert!(read <= most_read * content.len() as u64, "{read} bytes");
    }
}

#[tokio::test]
async fn a_file_with_the_same_content_is_taken_as_it_lies() {
    let content = bytes(1, 8 * MIB);
    let (world, _) = with_file(Blocking::Threads, &content).await;
    let mut edited = content.clone();
    edited[4 * MIB..4 * MIB + 16].fill(7);
    let shorter = content[..5 * MIB].to_vec();
    // The list of the chunks is fetched in any case; what does not fit costs its chunks.
    for (equal, most) in [(content.clone(), 1), (edited, 3), (shorter, 6)] {
        let before = chunk_requests(&world);
        let target = Arc::new(MemoryTarget::new(Vec::new()));
        let equal = Nearby::Equal(Arc::new(BytesSource(equal.into())));
        let download = Download::new(node(1), revision(1));
        let done = world
            .transfer
            .download_over(download, target.clone(), equal, &());
        done.await.unwrap();
        let fetched = chunk_requests(&world) - before;
        assert!(fetched <= most, "{fetched} chunks");
        assert!(target.take() == content);
    }
}

#[tokio::test]
async fn a_file_on_disk_is_a_target() {
    let content = bytes(1, 3 * MIB);
    let (world, _) = with_file(Blocking::Threads, &content).await;
    let target = Arc::new(FileTarget::new(tempfile::tempfile().unwrap()));
    target.write_at(0, b"what was here before").unwrap();
    target.set_size(7 << 20).unwrap();
    world
        .transfer
        .download(Download::new(node(1), revision(1)), target.clone(), &())
        .await
        .unwrap();
    assert_eq!(target.size().unwrap(), content.len() as u64);
    let mut read = vec![0; content.len()];
    target.read_at(0, &mut read).unwrap();
    assert!(read == content);
    assert!(target.read_at(1, &mut read).is_err());
}

#[tokio::test]
async fn a_copy_opens_as_what_it_was_sealed_as_and_only_if_the_caller_says_so() {
    let (world, _) = with_file(Blocking::Inline, b"original").await;
    let source = world.server.state(|state| state.copy(node(1), node(2)));
    let copied = world
        .server
        .state(|state| state.nodes[&node(2)].revision_id.unwrap());
    let plain = Download::new(node(2), copied);
    let reported = Download {
        source: Some(source),
        ..plain
    };
    assert_eq!(world.get(reported).await.unwrap().1, b"original");
    assert_eq!(
        world
            .transfer
            .download_batch(vec![((), reported)], 0, &())
            .await
            .remove(0)
            .1
            .unwrap()
            .1,
        b"original"
    );
    assert!(world.get(plain).await.unwrap_err().class().is_some());
}

#[tokio::test]
async fn what_is_gone_is_gone() {
    let (world, _) = with_file(Blocking::Inline, b"content").await;
    let gone = world
        .get(Download::new(node(1), revision(9)))
        .await
        .unwrap_err();
    assert!(matches!(
        gone,
        TransferError::Api(ApiError::NotFound { .. } | ApiError::Gone { .. })
    ));
    let id = world.objects((node(1), revision(1)))[0];
    world
        .server
        .state(|state| state.chunks.remove(&(node(1), id)));
    let gone = world
        .get(Download::new(node(1), revision(1)))
        .await
        .unwrap_err();
    assert!(matches!(
        gone,
        TransferError::Api(ApiError::NotFound { .. } | ApiError::Gone { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_limit_slows_a_transfer_down() {
    let content = bytes(1, 300_000);
    let (world, _) = with_file(Blocking::Inline, &content).await;
    world.transfer.limits().set_down(Some(100_000));
    let begin = tokio::time::Instant::now();
    for _ in 0..2 {
        world
            .get(Download::new(node(1), revision(1)))
            .await
            .unwrap();
    }
    // The second file waits until the first is paid for.
    assert!(begin.elapsed().as_secs_f64() > 2.9, "{:?}", begin.elapsed());
}
