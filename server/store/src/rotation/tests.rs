//! A rotation that is interrupted after each of its steps.

use super::*;
use crate::source::Clock;
use crate::testing::add_account;
use crate::webhook_queue::AttemptResult;
use cairn_model::EventKind;
use tempfile::TempDir;

const SECRETS: [&str; 3] = ["token_key", "form_key", "another"];
const WEBHOOKS: usize = 4;

fn source() -> Arc<Source> {
    Arc::new(Source::new(Clock::System, None))
}

fn open(data: &Path) -> Store {
    Store::open(Some(data), source()).unwrap()
}

/// A data directory with a record in each of the columns.
struct Place {
    dir: TempDir,
    account: AccountId,
    secrets: Vec<[u8; 32]>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let account = add_account(&store, "a@example.com").id;
        let secrets = SECRETS.map(|key| store.secret(key).unwrap()).to_vec();
        store
            .write(|tx| {
                tx.begin_second_factor(account, b"the factor")?;
                tx.confirm_second_factor(account, 0, &[])
            })
            .unwrap();
        for number in 0..WEBHOOKS {
            let url = format!("https://example.com/{number}");
            let events = [EventKind::WebhookTest];
            let webhook = store
                .add_webhook(account, &url, &events, &format!("secret {number}"))
                .unwrap();
            let id = webhook.id.parse().unwrap();
            store
                .rotate_webhook(account, id, &format!("next {number}"))
                .unwrap();
        }
        for due in store.due_deliveries().unwrap() {
            let attempt = AttemptResult {
                status: Some(500),
                latency_ms: 1,
                error: None,
                response: Some(b"a response".to_vec()),
            };
            let began = store.source().now_ms();
            store.record_attempt(due, began, &attempt).unwrap();
        }
        Self {
            dir,
            account,
            secrets,
        }
    }

    fn data(&self) -> &Path {
        self.dir.path()
    }

    fn keys(&self) -> Vec<Key> {
        key_file::read(self.data()).unwrap()
    }

    /// Opens every record of every column.
    #[track_caller]
    fn check(&self) {
        let store = open(self.data());
        let secrets = SECRETS.map(|key| store.secret(key).unwrap());
        assert_eq!(secrets.as_slice(), self.secrets.as_slice());
        let factor = store.write(|tx| tx.second_factor(self.account)).unwrap();
        assert_eq!(factor.unwrap().secret, b"the factor");
        let mut records = 0;
        for sealed in &COLUMNS {
            let rows = store.rows_with(sealed).unwrap();
            assert!(!rows.is_empty(), "{}.{}", sealed.table, sealed.column);
            for (key, second) in rows {
                let record = store.write(|tx| tx.record(sealed, &key, &second)).unwrap();
                let about = (sealed.about)(&key).unwrap();
                let sealer = &store.outbox.sealer;
                sealer.open_record(&about, &record.unwrap()).unwrap();
                records += 1;
            }
        }
        assert_eq!(records, all_records());
    }

    /// Rotates until the step with a number, after which the program ends.
    fn rotate_until(&self, end: usize) -> Result<Rotated> {
        let mut steps = 0;
        rotate(self.data(), &source(), 2, &mut |_| {
            steps += 1;
            if steps > end {
                return Err(Error::Internal("killed".into()));
            }
            Ok(())
        })
    }
}

fn all_records() -> usize {
    // Secret and previous, one test event with one attempt.
    SECRETS.len() + 1 + WEBHOOKS * 4
}

#[test]
fn a_new_key_opens_everything_and_the_old_one_nothing() {
    let place = Place::new();
    let old = place.keys();
    let mut steps = Vec::new();
    let rotated = rotate(place.data(), &source(), 100, &mut |step| {
        steps.push(step);
        Ok(())
    });
    let expected = Rotated {
        resealed: all_records() as u64,
        ..Rotated::default()
    };
    assert_eq!(rotated.unwrap(), expected);
    assert_eq!(steps.first(), Some(&Step::KeyAdded));
    assert_eq!(
        steps[steps.len() - 2..],
        [Step::OnDisk, Step::OldKeyRemoved]
    );
    let new = place.keys();
    assert_eq!((old.len(), new.len()), (1, 1));
    assert_ne!(old, new);
    place.check();
    key_file::replace(place.data(), &source(), &old).unwrap();
    let store = open(place.data());
    assert!(SECRETS.iter().all(|key| store.secret(key).is_err()));
}

#[test]
fn a_rotation_that_ends_after_any_step_loses_nothing_and_is_completed() {
    let mut ended = 0;
    for end in 0.. {
        let place = Place::new();
        let old = place.keys()[0];
        let whole = place.rotate_until(end).is_ok();
        let left = place.keys();
        place.check();
        if left.len() == 1 {
            assert_ne!(left[0], old, "the old key went last");
        }
        if whole {
            break;
        }
        ended += 1;
        let interrupted = left.len() > 1;
        let next = rotate_records_key(place.data(), &source()).unwrap();
        assert_eq!(next.completed_earlier, interrupted);
        assert_eq!(place.keys().len(), 1);
        if interrupted {
            assert_eq!(place.keys()[0], left[0], "no third key");
        }
        place.check();
    }
    assert!(ended > 5, "{ended} steps");
}

#[test]
fn a_database_that_is_open_keeps_its_key() {
    let place = Place::new();
    let old = place.keys();
    let store = open(place.data());
    let refused = rotate_records_key(place.data(), &source()).unwrap_err();
    assert!(refused.to_string().contains("stop the server"), "{refused}");
    assert_eq!(place.keys(), old);
    drop(store);
    let lock = key_file::lock_exclusive(place.data()).unwrap();
    let refused = Store::open(Some(place.data()), source())
        .map(drop)
        .unwrap_err();
    assert!(refused.to_string().contains("keys rotate"), "{refused}");
    drop(lock);
    rotate_records_key(place.data(), &source()).unwrap();
}

#[test]
fn a_key_of_another_database_is_not_replaced() {
    let place = Place::new();
    let right = place.keys();
    key_file::replace(place.data(), &source(), &[[9; 32]]).unwrap();
    let refused = rotate_records_key(place.data(), &source()).unwrap_err();
    assert!(
        refused.to_string().contains("restore the right one"),
        "{refused}"
    );
    assert_eq!(place.keys(), [[9; 32]]);
    key_file::replace(place.data(), &source(), &right).unwrap();
    place.check();
}

#[test]
fn what_a_lost_key_sealed_stays_and_is_counted() {
    let place = Place::new();
    let store = open(place.data());
    let spoil = "UPDATE webhook_deliveries SET payload = x'00' WHERE row = 1";
    store.write(|tx| Ok(tx.conn.execute(spoil, [])?)).unwrap();
    drop(store);
    let rotated = rotate_records_key(place.data(), &source()).unwrap();
    assert_eq!(rotated.unopenable, 1);
    assert_eq!(rotated.resealed, all_records() as u64 - 1);
}

#[test]
fn a_key_that_a_crash_left_beside_the_file_goes() {
    let place = Place::new();
    let left = place.data().join("records.abc.tmp");
    std::fs::write(&left, "a key").unwrap();
    rotate_records_key(place.data(), &source()).unwrap();
    assert!(!left.exists());
    place.check();
}
