//! Versions that are cut where their content is compared, and sent afterwards.

use crate::transfer::world::{
    World, bytes, new_file, next_of, node, revision, unwrap_committed, upload,
};
use cairn_crypto::content_hash;
use cairn_transfer::{
    Blocking, Download, Source, SourceReader, TransferError, Upload, UploadTarget,
};
use std::io;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MIB: usize = 1024 * 1024;

/// A file that counts the bytes that are read of it.
struct Counted {
    bytes: Vec<u8>,
    state: u8,
    read: Arc<AtomicUsize>,
}

struct CountedReader(Cursor<Vec<u8>>, Arc<AtomicUsize>);

impl io::Read for CountedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(out)?;
        self.1.fetch_add(read, Ordering::Relaxed);
        Ok(read)
    }
}

impl io::Seek for CountedReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Source for Counted {
    fn open(&self) -> io::Result<Box<dyn SourceReader>> {
        let reader = CountedReader(Cursor::new(self.bytes.clone()), self.read.clone());
        Ok(Box::new(reader))
    }

    fn state(&self) -> Option<[u8; 32]> {
        Some([self.state; 32])
    }
}

#[tokio::test]
async fn a_version_that_was_cut_ahead_is_read_once_and_in_that_state_alone() {
    let size = 24 * MIB;
    for (later, blocking) in [
        (1, Blocking::Threads),
        (2, Blocking::Threads),
        (1, Blocking::Inline),
    ] {
        let world = World::new(blocking);
        let mut content = bytes(1, size);
        let (first, _) =
            unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
        let next = next_of(&world, &first, 2);
        let UploadTarget::Revision { replaced, .. } = &next else {
            panic!("it is a revision");
        };
        let replaced = replaced.unwrap();
        content[size / 2] ^= 1;
        let read = Arc::new(AtomicUsize::new(0));
        let file = |state| Counted {
            bytes: content.clone(),
            state,
            read: read.clone(),
        };
        let cut = world
            .transfer
            .cut_ahead(&replaced, Arc::new(file(1)), size as u64);
        assert_eq!(cut.await.unwrap(), Some(content_hash(&content)));
        assert_eq!(read.load(Ordering::Relaxed), size);
        let again = Upload {
            source: Arc::new(file(later)),
            skip_if: Some(content_hash(b"what was there")),
            ..upload(next.clone(), revision(2), &content)
        };
        let puts = world.server.puts();
        unwrap_committed(world.put(again).await);
        assert!(world.server.puts() - puts <= 3);
        // The first chunk, and the new one.
        let again = read.load(Ordering::Relaxed) - size;
        let expected = if later == 1 {
            1..=8 * MIB
        } else {
            size..=size + 8 * MIB
        };
        assert!(expected.contains(&again), "{again} bytes are read again");
        let read = world.get(Download::new(node(1), revision(2))).await;
        assert!(read.unwrap().1 == content);
        // The revision before is not the content that a third one replaces.
        let cut = world
            .transfer
            .cut_ahead(&replaced, Arc::new(file(1)), size as u64);
        assert_eq!(cut.await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_version_that_was_cut_ahead_is_sent_only_with_the_bytes_that_were_cut() {
    let world = World::new(Blocking::Inline);
    let mut content = bytes(1, 4 * MIB);
    let (first, _) = unwrap_committed(world.put(upload(new_file(1), revision(1), &content)).await);
    let next = next_of(&world, &first, 2);
    let UploadTarget::Revision { replaced, .. } = &next else {
        panic!("it is a revision");
    };
    let replaced = replaced.unwrap();
    let file = |bytes: &[u8]| {
        let bytes = bytes.to_vec();
        let read = Arc::default();
        Arc::new(Counted {
            bytes,
            state: 1,
            read,
        })
    };
    content[2 * MIB] ^= 1;
    let cut = world
        .transfer
        .cut_ahead(&replaced, file(&content), 4 * MIB as u64);
    assert!(cut.await.unwrap().is_some());
    content[2 * MIB] ^= 3;
    let changed = Upload {
        source: file(&content),
        ..upload(next.clone(), revision(2), &content)
    };
    let sent = world.put(changed).await;
    assert!(
        matches!(sent, Err(TransferError::SourceChanged)),
        "{sent:?}"
    );
    // The next try reads all of it.
    let again = Upload {
        source: file(&content),
        ..upload(next, revision(2), &content)
    };
    unwrap_committed(world.put(again).await);
    let read = world.get(Download::new(node(1), revision(2))).await;
    assert!(read.unwrap().1 == content);
}
