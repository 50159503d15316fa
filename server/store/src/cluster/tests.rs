//! Two servers on one database of PostgreSQL, which `CAIRN_TEST_POSTGRES` names.

use crate::testing::add_account;
use crate::{Clock, Hash, PostgresUrl, Source, Store, Taken};
use cairn_model::AccountId;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Opens two stores on one new schema.
fn two() -> (Store, Store) {
    let url = std::env::var("CAIRN_TEST_POSTGRES").unwrap();
    let schema = Uuid::new_v4().simple();
    let url = PostgresUrl(format!("{url}?options=-csearch_path%3Dtest_{schema}"));
    let open = || {
        let clock = Clock::Virtual {
            start_ms: 1_000_000,
        };
        Store::open_postgres(&url, None, Arc::new(Source::new(clock, None))).unwrap()
    };
    (open(), open())
}

#[test]
fn one_file_has_no_other_servers() {
    let store = Store::open(None, Arc::new(Source::new(Clock::System, None))).unwrap();
    assert!(!store.is_shared());
    assert!(store.hold_lease("work", Duration::ZERO).unwrap());
    assert!(
        store
            .take_turn(AccountId::from_random_bytes([1; 16]), "k")
            .unwrap()
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
async fn a_change_on_one_server_wakes_those_who_listen_on_another() {
    let (one, other) = two();
    let account = add_account(&one, "a@example.com");
    // The first news of a listener is that it listens.
    let mut feed = other.feed_notifier().listen(account.space.row);
    other.outbox().wait_for_work().await;
    other.mail_queue().wait_for_work().await;
    let before = *feed.borrow_and_update();
    one.write(|tx| {
        tx.next_seq(account.space)?;
        Ok(())
    })
    .unwrap();
    let heard = tokio::time::timeout(Duration::from_secs(20), async {
        feed.changed().await.unwrap();
        *feed.borrow()
    });
    assert!(heard.await.unwrap() > before);
    one.write(|tx| tx.send_mail("b@example.com", "Hello", "…").map(drop))
        .unwrap();
    let mail = tokio::time::timeout(Duration::from_secs(20), other.mail_queue().wait_for_work());
    mail.await.unwrap();
    // Another history is known everywhere.
    one.reset().unwrap();
    let ended = async {
        while other.history_id() != one.history_id() {
            feed.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .unwrap();
}

#[test]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
fn a_lease_is_one_servers_until_it_ends_or_is_given_up() {
    let (one, other) = two();
    let (long, none) = (Duration::from_secs(600), Duration::ZERO);
    assert!(one.hold_lease("work", long).unwrap());
    assert!(!other.hold_lease("work", long).unwrap());
    assert!(one.hold_lease("work", long).unwrap());
    assert!(other.hold_lease("other work", long).unwrap());
    one.give_up_leases().unwrap();
    assert!(other.hold_lease("work", none).unwrap());
    // It has ended at once.
    assert!(one.hold_lease("work", long).unwrap());
    assert!(!other.hold_lease("work", long).unwrap());
}

#[test]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
fn a_key_is_one_requests_turn_as_long_as_its_server_lives() {
    let (one, other) = two();
    let account = AccountId::from_random_bytes([1; 16]);
    one.stay_alive(Duration::from_secs(600)).unwrap();
    other.stay_alive(Duration::from_secs(600)).unwrap();
    assert!(one.take_turn(account, "k").unwrap());
    assert!(!other.take_turn(account, "k").unwrap());
    assert!(other.take_turn(account, "another").unwrap());
    other.give_turn_back(account, "k").unwrap();
    assert!(
        !other.take_turn(account, "k").unwrap(),
        "it was not its own"
    );
    one.give_turn_back(account, "k").unwrap();
    assert!(other.take_turn(account, "k").unwrap());
    assert!(!one.take_turn(account, "k").unwrap());
    // A server that was killed keeps nobody waiting.
    other.give_up_leases().unwrap();
    assert!(one.take_turn(account, "k").unwrap());
}

#[test]
#[ignore = "needs PostgreSQL: `cargo xtask test --only PostgreSQL`"]
fn requests_and_failed_logins_are_counted_together() {
    let (one, other) = two();
    let (key, per_minute) = ([7; 16], 4);
    for (store, left) in [(&one, 3), (&other, 2), (&one, 1), (&other, 0)] {
        let taken = store.take_requests(&key, per_minute, 1).unwrap();
        assert_eq!(taken, Taken::Yes { remaining: left });
    }
    for store in [&one, &other] {
        let taken = store.take_requests(&key, per_minute, 1).unwrap();
        assert_eq!(taken, Taken::No { wait_ms: 15_000 });
    }
    for store in [&one, &other] {
        store.source().advance(15_000);
    }
    let taken = one.take_requests(&key, per_minute, 1).unwrap();
    assert_eq!(taken, Taken::Yes { remaining: 0 });
    assert!(matches!(
        other.take_requests(&key, per_minute, 1).unwrap(),
        Taken::No { .. }
    ));

    // Several at once: all of them, or none.
    let several = [9; 16];
    let taken = one.take_requests(&several, per_minute, 3).unwrap();
    assert_eq!(taken, Taken::Yes { remaining: 1 });
    let refused = other.take_requests(&several, per_minute, 2).unwrap();
    assert_eq!(refused, Taken::No { wait_ms: 15_000 });
    let taken = other.take_requests(&several, per_minute, 1).unwrap();
    assert_eq!(taken, Taken::Yes { remaining: 0 });
    other.source().advance(60_000);
    assert_eq!(other.forget_old_counts(0).unwrap(), 2);
    one.source().advance(60_000);

    // A limit that is none.
    let taken = one.take_requests(&[8; 16], u32::MAX, 1).unwrap();
    assert!(matches!(taken, Taken::Yes { .. }));
    one.source().advance(1);
    assert_eq!(one.forget_old_counts(0).unwrap(), 1);

    let subject: Hash = [9; 32];
    let now = one.source().now_ms();
    let count = |store: &Store, now| {
        store
            .count_login_failure(&subject, now, now - 1_000, 3)
            .unwrap()
    };
    assert_eq!(
        [count(&one, now), count(&other, now), count(&one, now)],
        [Some(1), Some(2), Some(3)]
    );
    assert_eq!(count(&other, now), None);
    assert_eq!(other.login_failures(&subject).unwrap(), Some((3, now)));
    assert_eq!(count(&other, now + 1_000), Some(1), "the window has ended");
    one.forget_login_failures(&subject).unwrap();
    assert_eq!(other.login_failures(&subject).unwrap(), None);
    one.clear_counts().unwrap();
    let taken = other.take_requests(&key, per_minute, 1).unwrap();
    assert_eq!(taken, Taken::Yes { remaining: 3 });
    other.source().advance(60_000);
    assert_eq!(other.forget_old_counts(now).unwrap(), 1);
}
