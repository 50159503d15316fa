//! Tests of the harness itself, against a real server: what the other tests rely on.

use anyhow::{Result, ensure};
use cairn_e2e::dev::Fault;
use cairn_e2e::{Server, Storage};

#[test]
fn a_server_on_disk_keeps_its_nodes_over_a_kill() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut server = Server::start(
        Storage::Disk(dir.path().join("data")),
        dir.path().join("log"),
    )?;
    let (url, service) = (server.url(), server.service());
    service.create_folder(None, "sync")?;
    let top = service.cursor()?;
    server.restart()?;
    ensure!(server.url() == url, "the server moved to {}", server.url());
    let parent = service.folder_id("sync")?;
    service.create_folder(Some(&parent), "inner")?;
    ensure!(service.node("inner")?.kind == "folder");
    ensure!(service.changes_since(&top)? == 1);
    Ok(())
}

#[test]
fn a_restored_backup_is_the_older_state() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut server = Server::start(
        Storage::Disk(dir.path().join("data")),
        dir.path().join("log"),
    )?;
    let service = server.service();
    service.create_folder(None, "sync")?;
    server.backup(&dir.path().join("backup"))?;
    let parent = service.folder_id("sync")?;
    service.create_folder(Some(&parent), "later")?;
    let cursor = service.cursor()?;
    server.restore(&dir.path().join("backup"))?;
    ensure!(service.tree()?.is_empty());
    let error = service.changes_since(&cursor).unwrap_err().to_string();
    ensure!(
        error.contains("410"),
        "a cursor of the lost history was accepted: {error}"
    );
    Ok(())
}

#[test]
fn faults_apply_as_often_as_they_should_and_requests_are_recorded() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let server = Server::start(Storage::Memory, dir.path().join("log"))?;
    let (dev, service) = (server.dev(), server.service());
    dev.fault(
        &Fault::on("/api/v1/nodes")
            .method("POST")
            .status(500)
            .times(1),
    )?;
    ensure!(service.create_folder(None, "one").is_err());
    service.create_folder(None, "one")?;
    dev.wait_for_hits(1)?;
    let statuses: Vec<u16> = dev
        .requests()?
        .iter()
        .filter(|r| r.changes_nodes())
        .map(|r| r.status)
        .collect();
    assert_eq!(statuses, [500, 201]);
    dev.clear_faults()?;
    dev.forget_requests()?;
    ensure!(dev.requests()?.is_empty());
    dev.set_quota("owner@example.com", 1000)?;
    Ok(())
}
