//! Commits to a signed log at the same time: each is taken whole or not at all, and of those that exclude each other
//! one wins.

use super::*;
use futures_util::future::join_all;

#[tokio::test]
async fn of_commits_that_exclude_each_other_one_wins() {
    let world = World::new();
    let (client, mut first) = found_own_space(&world).await;
    let numbers: Vec<u8> = (1..=8).collect();
    let list = first.control(first.list(2, &numbers));
    client.write(&mut first, vec![list]).await;
    let folder = bytes(first.folder(node(1), None, "plans"));
    client.write(&mut first, vec![folder]).await;
    // Each device renames the same folder and makes one of its own, all from the same state.
    let commits: Vec<Vec<u8>> = numbers
        .iter()
        .map(|number| {
            let mut device = first.device(*number);
            let mut renamed = device.next(node(1), NodeOp::Place);
            renamed.name = format!("plans of {number}").into();
            let own = device.folder(node(100 + number), None, &format!("own {number}"));
            // The first device's numbers go on.
            let mut header = device.header();
            header.own += 10;
            device.sign(header, vec![bytes(own), bytes(renamed)])
        })
        .collect();
    let responses = join_all(commits.iter().map(|commit| client.send(commit, &[]))).await;
    let replies: Vec<CommitResponse> = responses
        .iter()
        .map(|response| CommitResponse::decode(&response.body).unwrap())
        .collect();
    let won: Vec<usize> = (0..replies.len())
        .filter(|at| matches!(replies[*at], CommitResponse::Accepted { .. }))
        .collect();
    assert_eq!(won.len(), 1);
    for reply in &replies {
        if let CommitResponse::Refused { refusal, page } = reply {
            assert_eq!(*refusal, Refusal::Prev);
            assert_eq!(page.frames.len(), 1, "it comes with what won");
        }
    }
    let (from, _) = first.state.head();
    first.read(&client.page(from).await);
    let number = numbers[won[0]];
    let name = &first.state.statement(node(1)).unwrap().name;
    assert_eq!(*name, format!("plans of {number}").into_bytes());
    for other in &numbers {
        let own = first.state.statement(node(100 + other));
        assert_eq!(own.is_some(), *other == number, "nothing of the others");
    }
}
