//! Uploads and downloads of many small files at once.

use crate::transfer::world::{
    Heard, World, bytes, new_file, node, revision, small_upload, unwrap_committed,
    upload as upload_of, with_file,
};
use cairn_api::ApiError;
use cairn_crypto::content_hash;
use cairn_crypto::format2::raw_len;
use cairn_transfer::{
    Blocking, Check, Download, SmallUpload, TransferError, UploadTarget, Uploaded,
};
use std::collections::BTreeMap;

const MIB: usize = 1024 * 1024;

/// Items with their numbers as keys.
fn number_items<T>(items: impl IntoIterator<Item = T>) -> Vec<(usize, T)> {
    items.into_iter().enumerate().collect()
}

/// Uploads files, and returns the results by the files' numbers.
async fn upload(
    world: &World,
    files: Vec<SmallUpload>,
) -> BTreeMap<usize, Result<Uploaded, TransferError>> {
    let results = world.transfer.upload_batch(number_items(files), &()).await;
    results.into_iter().collect()
}

type Content = Result<(cairn_model::Manifest, Vec<u8>), TransferError>;

/// Downloads files, and returns the results by the downloads' numbers.
async fn download(world: &World, downloads: &[Download]) -> BTreeMap<usize, Content> {
    download_expecting(world, downloads, 0).await
}

async fn download_expecting(
    world: &World,
    downloads: &[Download],
    expected: u64,
) -> BTreeMap<usize, Content> {
    let downloads = number_items(downloads.iter().copied());
    let results = world.transfer.download_batch(downloads, expected, &());
    results.await.into_iter().collect()
}

#[tokio::test]
async fn batches_commit_each_file_alone() {
    for blocking in [Blocking::Threads, Blocking::Inline] {
        let world = World::new(blocking);
        let mut files: Vec<_> = (1..=20_u8)
            .map(|n| {
                small_upload(
                    new_file(n),
                    revision(n),
                    bytes(u64::from(n), usize::from(n - 1) * 700),
                )
            })
            .collect();
        files[3].skip_if = Some(content_hash(&files[3].bytes));
        let duplicate = UploadTarget::New {
            node: node(99),
            parent: None,
            name: "file 1".to_owned(),
        };
        files.push(small_upload(duplicate, revision(99), b"taken".to_vec()));
        let contents: Vec<Vec<u8>> = files.iter().map(|file| file.bytes.clone()).collect();
        let heard = Heard::default();
        let results = world
            .transfer
            .upload_batch(number_items(files.clone()), &heard)
            .await;
        let mut results: BTreeMap<_, _> = results.into_iter().collect();
        assert!(matches!(
            results.remove(&20),
            Some(Err(TransferError::Api(ApiError::Conflict { .. })))
        ));
        assert_eq!(results.len(), 20);
        for (i, outcome) in results {
            if i == 3 {
                assert_eq!(outcome.unwrap(), Uploaded::Unchanged);
                continue;
            }
            let (sent, manifest) = unwrap_committed(outcome);
            assert_eq!((sent.id, manifest.executable), (node(i as u8 + 1), true));
            let download = Download::new(sent.id, sent.revision_id.unwrap());
            assert_eq!(world.get(download).await.unwrap().1, contents[i]);
        }
        let requests = world.server.state(|state| state.requests.clone());
        assert_eq!(
            requests
                .iter()
                .filter(|request| request.contains("uploads"))
                .count(),
            1
        );
        let (done, total) = *heard.moved.lock().unwrap().last().unwrap();
        assert_eq!(done, total);

        // Sending the same batch again, its response lost, commits nothing twice.
        let again = upload(&world, files[..3].to_vec()).await;
        assert!(
            again
                .into_values()
                .all(|outcome| matches!(outcome, Ok(Uploaded::Committed { .. })))
        );
        assert_eq!(world.server.state(|state| state.revisions.len()), 19);
    }
}

#[tokio::test]
async fn batches_keep_to_their_bounds() {
    let world = World::new(Blocking::Threads);
    world.server.intercept(|request| {
        if request.path.ends_with("batch") {
            assert!(request.body.len() < 9 * MIB);
            let (head, _): (cairn_wire::transfer::UploadBatch, _) =
                cairn_wire::frame::decode(request.body.to_bytes()).unwrap();
            assert!(head.files.len() <= 256);
        }
        None
    });
    let mut files: Vec<_> = (0..600_u32)
        .map(|n| {
            let mut id = [1; 16];
            id[..4].copy_from_slice(&n.to_be_bytes());
            let target = UploadTarget::New {
                node: cairn_model::NodeId::from_random_bytes(id),
                parent: None,
                name: format!("small {n}"),
            };
            small_upload(
                target,
                cairn_model::RevisionId::from_random_bytes(id),
                n.to_be_bytes().to_vec(),
            )
        })
        .collect();
    files.extend(
        (200..210).map(|n| small_upload(new_file(n), revision(n), bytes(u64::from(n), MIB))),
    );
    files.push(small_upload(
        new_file(220),
        revision(220),
        bytes(7, 5 * MIB),
    ));
    let outcomes = upload(&world, files).await;
    assert_eq!(outcomes.len(), 611);
    assert!(
        outcomes
            .into_values()
            .all(|outcome| matches!(outcome, Ok(Uploaded::Committed { .. })))
    );
    let requests = world.server.state(|state| state.requests.clone());
    assert_eq!(
        requests
            .iter()
            .filter(|request| request.ends_with("uploads/batch"))
            .count(),
        4
    );
}

#[tokio::test]
async fn when_a_whole_batch_fails_each_file_says_so() {
    let world = World::new(Blocking::Inline);
    world
        .server
        .intercept(|_| Some((507, br#"{"code":507,"message":"full"}"#.to_vec())));
    let files = (1..4)
        .map(|n| small_upload(new_file(n), revision(n), vec![n]))
        .collect();
    let outcomes = upload(&world, files).await;
    assert_eq!(outcomes.len(), 3);
    assert!(
        outcomes
            .values()
            .all(|outcome| matches!(outcome, Err(TransferError::Api(ApiError::QuotaFull { .. }))))
    );
}

async fn with_small_files(count: u8) -> (World, Vec<Download>, Vec<Vec<u8>>) {
    let world = World::new(Blocking::Threads);
    let contents: Vec<Vec<u8>> = (1..=count)
        .map(|n| bytes(u64::from(n), usize::from(n) * 911 - 911))
        .collect();
    let files = contents
        .iter()
        .zip(1..)
        .map(|(c, n)| small_upload(new_file(n), revision(n), c.clone()))
        .collect();
    for outcome in upload(&world, files).await.into_values() {
        outcome.unwrap();
    }
    let downloads = (1..=count)
        .map(|n| Download::new(node(n), revision(n)))
        .collect();
    (world, downloads, contents)
}

#[tokio::test]
async fn each_file_of_a_batch_comes_down_for_itself() {
    let (world, mut downloads, contents) = with_small_files(30).await;
    downloads.push(Download::new(node(77), revision(77)));
    let before = world.server.state(|state| state.requests.len());
    let mut files = download(&world, &downloads).await;
    assert_eq!(world.server.state(|state| state.requests.len()) - before, 1);
    assert!(matches!(
        files.remove(&30),
        Some(Err(TransferError::Api(
            ApiError::NotFound { .. } | ApiError::Gone { .. }
        )))
    ));
    assert_eq!(files.len(), 30);
    for (i, file) in files {
        assert_eq!(file.unwrap().1, contents[i]);
    }
    let first = number_items(downloads[..4].iter().copied());
    let manifests = world.transfer.manifests(first).await;
    let sizes: BTreeMap<usize, u64> = manifests
        .into_iter()
        .map(|(i, manifest)| (i, manifest.unwrap().size))
        .collect();
    assert_eq!(
        sizes,
        BTreeMap::from([(0, 0), (1, 911), (2, 1822), (3, 2733)])
    );
}

#[tokio::test]
async fn files_that_did_not_fit_are_asked_for_again_and_alone_if_need_be() {
    let (world, downloads, contents) = with_small_files(12).await;
    for limit in [raw_len(11 * 911) + 100, 3000, 0] {
        world.server.state(|state| state.batch_limit = Some(limit));
        let files = download(&world, &downloads).await;
        assert_eq!(files.len(), 12);
        for (i, file) in files {
            assert_eq!(file.unwrap().1, contents[i], "with room for {limit} bytes");
        }
    }
}

#[tokio::test]
async fn a_corrupted_file_of_a_batch_spoils_only_itself() {
    let (world, downloads, contents) = with_small_files(6).await;
    world.server.state(|state| {
        let id = state.revisions[&(node(4), revision(4))].chunks[0].id;
        let mut sealed = state.chunks[&(node(4), id)].to_vec();
        sealed[30] ^= 1;
        state.chunks.insert((node(4), id), sealed.into());
    });
    for (i, file) in download(&world, &downloads).await {
        if i == 3 {
            assert!(matches!(
                file,
                Err(TransferError::Refused {
                    check: Check::Chunk,
                    ..
                })
            ));
        } else {
            assert_eq!(file.unwrap().1, contents[i]);
        }
    }
}

#[tokio::test]
async fn a_batch_that_is_shorter_than_it_says_is_an_error_and_no_panic() {
    let (world, downloads, _) = with_small_files(6).await;
    world
        .server
        .tamper(|_, body| body.truncate(body.len() - 5000));
    let files = download(&world, &downloads).await;
    assert!(
        files
            .values()
            .any(|file| matches!(file, Err(TransferError::Api(ApiError::Protocol(_)))))
    );
    world.server.tamper(|_, body| body.clear());
    let files = download(&world, &downloads).await;
    assert_eq!(files.len(), 6);
    assert!(files.values().all(Result::is_err));
}

#[tokio::test]
async fn a_big_file_in_a_batch_of_small_ones_asks_for_no_memory() {
    let (world, _) = with_file(Blocking::Inline, &vec![0; 64 * MIB]).await;
    let files = download(&world, &[Download::new(node(1), revision(1))]).await;
    assert!(matches!(
        files[&0],
        Err(TransferError::Api(ApiError::Protocol(_)))
    ));
}

#[tokio::test]
async fn files_that_grow_when_they_are_opened_fill_no_more_memory_than_was_expected() {
    let world = World::new(Blocking::Threads);
    let size = 3 * MIB;
    for n in 1..=5 {
        let zeros = upload_of(new_file(n), revision(n), &vec![0; size]);
        unwrap_committed(world.put(zeros).await);
    }
    let downloads: Vec<_> = (1..=5)
        .map(|n| Download::new(node(n), revision(n)))
        .collect();
    // At once, in several requests, and each alone.
    for limit in [8 * MIB as u64, 200, 0] {
        world.server.state(|state| state.batch_limit = Some(limit));
        let files = download(&world, &downloads).await;
        let opened = files.values().filter(|file| file.is_ok()).count();
        assert_eq!(opened, 2, "8 MiB at most");
        let all = download_expecting(&world, &downloads, 5 * size as u64).await;
        assert!(all.values().all(Result::is_ok));
        let is_refused =
            |file: &Content| matches!(file, Err(TransferError::Api(ApiError::Protocol(_))));
        assert_eq!(files.values().filter(|file| is_refused(file)).count(), 3);
    }
}
