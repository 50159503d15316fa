//! The file with the public keys of other people that this device has pinned, and the newest team keys that it
//! has seen, sealed under the account's own key. Commands that run at once change it one after the other.

use crate::failure::{CommandResult, Context as _, Exit, Failure};
use cairn_platform::{FileMode, Home, wait_for_lock, write_atomic};
use cairn_space::account_keys::AccountKeys;
use cairn_space::{SystemRandom, Trust};
use std::io;
use std::path::{Path, PathBuf};

/// Lets `change` look at what is trusted, and keeps what it changed, also where it fails: a key that
/// was seen stays pinned.
pub(crate) fn update<T, E: Into<Failure>>(
    home: &Home,
    keys: &AccountKeys,
    change: impl FnOnce(&mut Trust) -> Result<T, E>,
) -> CommandResult<T> {
    // Another account may have used this home before.
    let path = home.data_dir().join(format!("trust-{}", keys.account));
    let lock_path = home.data_dir().join(format!("trust-{}.lock", keys.account));
    let what = format!("lock {}", lock_path.display());
    let lock = wait_for_lock(&lock_path).context(&what)?;
    // The lock has a byte once there is a file to miss: whoever removes that makes all keys new.
    let noted = lock.metadata().context(&what)?.len() > 0;
    let found = read_or_complete(&path, keys)?;
    if found.is_none() && noted {
        return Err(missing_error(&path, &lock_path));
    }
    let exists = found.is_some();
    let before = found.unwrap_or_default();
    let mut trust = before.clone();
    let result = change(&mut trust).map_err(Into::into);
    let changed = trust != before;
    if changed {
        write(&path, keys, &trust).context(format_args!("write {}", path.display()))?;
    }
    if !noted && (changed || exists) {
        lock.set_len(1).context(&what)?;
    }
    result
}

/// The pins after the account's keys were replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pins {
    Kept,
    /// The pins can't be read without the former keys: everybody's keys count as new.
    Lost,
}

/// Seals what is trusted under other keys of the account. `commit` makes those the keys of this home; a crash before
/// it changes nothing, and after one behind it the next command completes the rest.
pub(crate) fn carry_over(
    home: &Home,
    former: Option<&AccountKeys>,
    keys: &AccountKeys,
    commit: impl FnOnce() -> CommandResult,
) -> CommandResult<Pins> {
    let path = home.data_dir().join(format!("trust-{}", keys.account));
    let lock_path = path.with_extension("lock");
    let lock = wait_for_lock(&lock_path).context(format_args!("lock {}", lock_path.display()))?;
    if read_or_complete(&path, keys).is_ok() {
        commit()?;
        return Ok(Pins::Kept);
    }
    let what = format!("write {}", path.display());
    let opened = former.map(|former| read(&path, former));
    if let Some(Ok(Some(trust))) = opened {
        let next = next_path(&path);
        write(&next, keys, &trust).context(&what)?;
        commit()?;
        std::fs::rename(&next, &path).context(&what)?;
        return Ok(Pins::Kept);
    }
    commit()?;
    std::fs::rename(&path, path.with_extension("unreadable")).context(&what)?;
    lock.set_len(0).context(&what)?;
    Ok(Pins::Lost)
}

/// The file under the next keys, until these are in force.
fn next_path(path: &Path) -> PathBuf {
    path.with_extension("next")
}

/// Returns the pins and notes; where the account's keys were replaced and something ended the program before the
/// file was, it is replaced now.
fn read_or_complete(path: &Path, keys: &AccountKeys) -> CommandResult<Option<Trust>> {
    let found = read(path, keys);
    let next = next_path(path);
    if found.is_err()
        && let Ok(Some(trust)) = read(&next, keys)
    {
        std::fs::rename(&next, path).context(format_args!("write {}", path.display()))?;
        return Ok(Some(trust));
    }
    found
}

fn missing_error(path: &Path, lock: &Path) -> Failure {
    Failure::new(
        Exit::Decision,
        format!(
            "{} is missing; it holds the keys of other people that this device has accepted. Restore it from a backup, or remove {} too and compare the fingerprints that `cairn teams keys` shows again",
            path.display(),
            lock.display()
        ),
    )
}

/// Returns the pins and notes; `None` without a file.
fn read(path: &Path, keys: &AccountKeys) -> CommandResult<Option<Trust>> {
    let sealed = match std::fs::read(path) {
        Ok(sealed) => sealed,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e).context(format_args!("read {}", path.display())),
    };
    let opened = Trust::open(&keys.trust_key(), &sealed);
    opened.map(Some).map_err(|_| {
        Failure::failed(format!(
            "{} is damaged, or was written with other keys of this account: remove it, then compare the fingerprints that `cairn teams keys` shows anew",
            path.display()
        ))
    })
}

/// Replaces the file in one step.
fn write(path: &Path, keys: &AccountKeys, trust: &Trust) -> CommandResult {
    let sealed = trust.seal(&keys.trust_key(), &mut SystemRandom)?;
    Ok(write_atomic(path, &sealed, FileMode::Private)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_crypto::{RootCost, create_account};
    use cairn_model::{AccountId, SpaceId};

    fn account(n: u8) -> AccountKeys {
        let (account, space) = (
            AccountId::from_random_bytes([n; 16]),
            SpaceId::from_random_bytes([n; 16]),
        );
        let made = create_account("p", account, space, RootCost::LEAST, &mut SystemRandom);
        made.unwrap().1
    }

    #[test]
    fn what_is_pinned_stays_pinned_through_failures_and_many_commands_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let (own, other) = (account(1), account(2));
        let failed = update(&home, &own, |trust| {
            trust.compare(other.account, &other.public());
            Err::<(), _>(Failure::failed("it went wrong"))
        });
        assert_eq!(failed.unwrap_err().message, "it went wrong");

        std::thread::scope(|scope| {
            for n in 10..30 {
                let (home, own, keys) = (&home, &own, other.public());
                scope.spawn(move || {
                    update(home, own, |trust| {
                        trust.compare(AccountId::from_random_bytes([n; 16]), &keys);
                        Ok::<_, Failure>(())
                    })
                    .unwrap();
                });
            }
        });
        let pinned = update(&home, &own, |trust| {
            let all = (10..30).map(|n| AccountId::from_random_bytes([n; 16]));
            let all = all.chain([other.account]);
            Ok::<_, Failure>(all.filter(|one| trust.pinned_keys(*one).is_some()).count())
        });
        assert_eq!(pinned.unwrap(), 21);

        let path = home.data_dir().join(format!("trust-{}", own.account));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[40] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let refused = update(&home, &own, |_| Ok::<_, Failure>(())).unwrap_err();
        assert!(refused.message.contains("damaged"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);

        std::fs::remove_file(&path).unwrap();
        let missing = update(&home, &own, |_| Ok::<_, Failure>(())).unwrap_err();
        assert_eq!(missing.exit, Exit::Decision, "{missing}");
        assert!(missing.message.contains("missing"), "{missing}");
        std::fs::remove_file(path.with_extension("lock")).unwrap();
        update(&home, &own, |_| Ok::<_, Failure>(())).unwrap();
        // Another account of this home has had no file yet.
        update(&home, &account(3), |_| Ok::<_, Failure>(())).unwrap();
    }

    #[test]
    fn pins_stay_when_the_keys_are_replaced_and_also_after_a_crash_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let (former, next) = (account(1), account(1));
        let somebody = AccountId::from_random_bytes([9; 16]);
        let pin = |keys: &AccountKeys| {
            update(&home, keys, |trust| {
                trust.compare(somebody, &account(2).public());
                Ok::<_, Failure>(())
            })
        };
        let is_pinned = |keys: &AccountKeys| {
            let look = update(&home, keys, |trust| {
                Ok::<_, Failure>(trust.pinned_keys(somebody).is_some())
            });
            look.unwrap()
        };
        pin(&former).unwrap();
        // A crash before the keys are in force.
        let crash = || Err(Failure::failed("crash"));
        carry_over(&home, Some(&former), &next, crash).unwrap_err();
        assert!(is_pinned(&former));
        // A crash right after that.
        let path = home.data_dir().join(format!("trust-{}", former.account));
        assert!(update(&home, &account(1), |_| Ok::<_, Failure>(())).is_err());
        assert!(path.with_extension("next").exists());
        assert!(is_pinned(&next));
        // Once more, without one; the keys of before open nothing any more.
        let third = account(1);
        let kept = carry_over(&home, Some(&next), &third, || Ok(())).unwrap();
        assert!(kept == Pins::Kept && is_pinned(&third));
        update(&home, &next, |_| Ok::<_, Failure>(())).unwrap_err();
        // Without the former keys they are set aside, which is said.
        let fourth = account(1);
        let lost = carry_over(&home, None, &fourth, || Ok(())).unwrap();
        assert!(lost == Pins::Lost && !is_pinned(&fourth));
        assert!(path.with_extension("unreadable").exists());
    }
}
