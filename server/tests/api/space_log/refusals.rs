//! Each reason for which a commit to a signed log is refused, with what the device missed; nothing has changed after
//! any of them.

use super::*;
use cairn_log::{CommitHeader, Flags, NodeStatement};

type Header = fn(&mut CommitHeader);
type Change = fn(&mut NodeStatement);

#[tokio::test]
async fn each_field_of_a_header_counts() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    let first = bytes(writer.folder(node(1), None, "a"));
    client.write(&mut writer, vec![first]).await;
    let changes: [(Header, Refusal); 6] = [
        (|h| h.history[0] ^= 1, Refusal::History),
        (|h| h.device ^= 1, Refusal::Device),
        (|h| h.own = 1, Refusal::Own),
        (|h| h.seen += 1, Refusal::Seen),
        (|h| h.root[0] ^= 1, Refusal::Root),
        (
            |h| (h.seen, h.root) = (0, cairn_log::EMPTY_ROOT),
            Refusal::Seen,
        ),
    ];
    let folder = bytes(writer.folder(node(2), None, "b"));
    for (change, expected) in changes {
        let mut header = writer.header();
        change(&mut header);
        let commit = writer.sign(header.clone(), vec![folder.clone()]);
        let (refusal, page) = client.send_refused(&commit).await;
        assert_eq!(refusal, expected);
        assert_eq!((page.size, page.root), writer.state.head());
        let missed = page.size.saturating_sub(header.seen);
        assert_eq!(page.frames.len() as u64, missed, "{expected}");
    }
    let mut forged = writer.commit(vec![folder.clone()]);
    let last = forged.len() - folder.len() - 10;
    forged[last] ^= 1;
    assert_eq!(client.send_refused(&forged).await.0, Refusal::Signature);
    let commit = writer.commit(vec![folder]);
    client.write_commit(&mut writer, &commit).await;
    let (refusal, page) = client.send_refused(&commit).await;
    assert_eq!((refusal, page.frames.len()), (Refusal::Own, 1));
}

#[tokio::test]
async fn each_rule_of_a_statement_counts() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    for (n, parent) in [(1, None), (2, Some(node(1))), (3, None)] {
        let folder = bytes(writer.folder(node(n), parent, &format!("folder {n}")));
        client.write(&mut writer, vec![folder]).await;
    }
    let gone = bytes(writer.next(node(3), NodeOp::Purge));
    client.write(&mut writer, vec![gone]).await;
    let changes: [(Change, Refusal); 7] = [
        (|s| s.prev[0] ^= 1, Refusal::Prev),
        (|s| s.seq += 1, Refusal::Seq),
        (|s| s.epoch += 1, Refusal::Epoch),
        (|s| s.parent = Some(node(2)), Refusal::Cycle),
        (|s| s.parent = Some(node(9)), Refusal::Parent),
        (|s| s.flags = s.flags.with(Flags::TRASHED), Refusal::Kind),
        (
            |s| (s.node, s.seq, s.prev) = (node(3), 1, [0; 16]),
            Refusal::Purged,
        ),
    ];
    let head = writer.state.head();
    for (change, expected) in changes {
        let mut statement = writer.next(node(1), NodeOp::Place);
        change(&mut statement);
        let commit = writer.commit(vec![bytes(statement)]);
        let (refusal, page) = client.send_refused(&commit).await;
        assert_eq!((refusal, page.size, page.root), (expected, head.0, head.1));
    }
    let duplicate = writer.folder(node(4), None, "folder 1");
    let commit = writer.commit(vec![bytes(duplicate)]);
    assert_eq!(client.send_refused(&commit).await.0, Refusal::NameDuplicate);
    let commit = writer.commit(vec![vec![200; 40]]);
    assert_eq!(client.send_refused(&commit).await.0, Refusal::Unsupported);
    assert_eq!(
        client.send_refused(b"C2 and no more").await.0,
        Refusal::Encoding
    );
    assert_eq!(client.page(0).await.size, head.0);
}

#[tokio::test]
async fn what_is_no_request_is_refused_before_the_log_sees_it() {
    let world = World::new();
    let client = Client::own(world.owner()).await;
    let path = client.path("commits");
    let send = |body: Vec<u8>| client.caller.send(Method::POST, &path, &[], body);
    send(vec![0xff; 20]).await.failed(400);
    send(vec![0; CommitRequest::MAX + 1]).await.failed(413);
    let response = client.send(b"", &[]).await;
    assert_eq!(response.status, 409);
    client.get("log?from=x").await.failed(400);
    client.get("proof?from=0").await.failed(404);
    client.get("snapshot?size=64").await.failed(404);
}

#[tokio::test]
async fn a_device_makes_ten_control_statements_a_minute() {
    let world = World::new();
    let (client, mut writer) = found_own_space(&world).await;
    for counter in 2..9 {
        let list = writer.control(writer.list(counter, &[1]));
        client.write(&mut writer, vec![list]).await;
    }
    let commit = writer.commit(vec![writer.control(writer.list(9, &[1]))]);
    let response = client.send(&commit, &[]).await;
    let body: ErrorBody = response.json();
    assert_eq!((response.status.as_u16(), body.code), (429, 429));
    assert_eq!(response.header("retry-after"), "6");
}
