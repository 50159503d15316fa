//! Sockets in temporary directories, both ends in one process.
#![cfg(unix)]

use super::{Listener, connect};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn both_ends_talk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/daemon.sock");
    let listener = Listener::bind(&path).unwrap();
    let (mut client, mut server) = tokio::try_join!(connect(&path), listener.accept()).unwrap();
    client.write_all(b"hello").await.unwrap();
    drop(client);
    let mut heard = String::new();
    server.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard, "hello");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let around = std::fs::metadata(path.parent().unwrap()).unwrap();
    assert_eq!(around.mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_second_listener_is_refused_while_the_first_lives() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("daemon.sock");
    let first = Listener::bind(&path).unwrap();
    let error = Listener::bind(&path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    drop(first);
    assert!(!path.exists(), "the file goes with its listener");
    assert_eq!(
        connect(&path).await.unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
}

#[tokio::test]
async fn a_socket_left_by_a_killed_daemon_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("daemon.sock");
    // The standard library leaves the file behind, as a killed process does.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = Listener::bind(&path).unwrap();
    tokio::try_join!(connect(&path), listener.accept()).unwrap();
}

#[tokio::test]
async fn a_directory_that_others_can_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let open = dir.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = Listener::bind(&open.join("daemon.sock")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("chmod go-w"), "{error}");
}
