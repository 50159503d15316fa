//! The order in which due deliveries are attempted, so that no account keeps the others waiting.

use cairn_model::AccountId;
use cairn_store::Due;
use std::collections::{HashMap, HashSet};

/// Attempts of one account that are on their way at once.
const PER_ACCOUNT: usize = 8;
/// Attempts that are on their way at once, of all accounts together.
const AT_ONCE: usize = 64;
/// The same with those of accounts that have no other: where a few accounts have all of their attempts at addresses
/// that never answer, one of anybody else still goes out.
const AT_MOST: usize = 2 * AT_ONCE;

/// The deliveries that are on their way.
#[derive(Default)]
pub(super) struct InFlight {
    deliveries: HashSet<Due>,
    by_account: HashMap<AccountId, usize>,
}

impl InFlight {
    /// Chooses the deliveries that can go out now and counts them as on their way. `due` are the oldest first; the
    /// first of each account go before the second of any.
    pub(super) fn choose(&mut self, due: Vec<Due>) -> Vec<Due> {
        let mut places: HashMap<AccountId, usize> = self.by_account.clone();
        let mut waiting: Vec<(usize, Due)> = due
            .into_iter()
            .filter(|one| !self.deliveries.contains(one))
            .map(|one| {
                let place = places.entry(one.account).or_default();
                *place += 1;
                (*place, one)
            })
            .collect();
        // A stable sort: within a turn the oldest stay first.
        waiting.sort_by_key(|(place, _)| *place);
        waiting
            .into_iter()
            .map(|(_, one)| one)
            .filter(|one| self.begin(*one))
            .collect()
    }

    /// Counts a delivery as on its way, if there is room for it.
    fn begin(&mut self, due: Due) -> bool {
        let its = self.by_account.entry(due.account).or_default();
        let most = if *its == 0 { AT_MOST } else { AT_ONCE };
        let has_room = *its < PER_ACCOUNT && self.deliveries.len() < most;
        if has_room {
            *its += 1;
            self.deliveries.insert(due);
        }
        has_room
    }

    /// Notes that the attempt of a delivery has ended.
    pub(super) fn end(&mut self, due: Due) {
        if self.deliveries.remove(&due)
            && let Some(its) = self.by_account.get_mut(&due.account)
        {
            *its = its.saturating_sub(1);
        }
        self.by_account.retain(|_, its| *its > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    /// Returns deliveries of an account, one per webhook.
    fn of_account(account: u128, count: u128) -> Vec<Due> {
        (0..count)
            .map(|number| Due {
                row: i64::try_from(account * 1000 + number).unwrap(),
                webhook: Uuid::from_u128(account * 1000 + number),
                account: AccountId(Uuid::from_u128(account)),
            })
            .collect()
    }

    #[test]
    fn an_account_has_few_attempts_on_their_way_and_more_once_they_end() {
        let mut in_flight = InFlight::default();
        let due = of_account(1, 20);
        let first = in_flight.choose(due.clone());
        assert_eq!(first, due[..PER_ACCOUNT]);
        assert!(in_flight.choose(due.clone()).is_empty());
        in_flight.end(first[0]);
        assert_eq!(in_flight.choose(due[1..].to_vec()), [due[PER_ACCOUNT]]);
    }

    #[test]
    fn the_first_of_each_account_goes_before_the_second_of_any() {
        let mut due = of_account(1, 3);
        due.extend(of_account(2, 1));
        let rows: Vec<i64> = InFlight::default()
            .choose(due)
            .iter()
            .map(|one| one.row)
            .collect();
        assert_eq!(rows, [1000, 2000, 1001, 1002]);
    }

    #[test]
    fn accounts_that_fill_all_places_leave_one_for_each_of_the_others() {
        let mut in_flight = InFlight::default();
        let slow = (1..=20).flat_map(|account| of_account(account, 10));
        assert_eq!(in_flight.choose(slow.collect()).len(), AT_ONCE);
        let late = of_account(99, 3);
        assert_eq!(in_flight.choose(late.clone()), late[..1]);
        in_flight.end(late[0]);
        assert_eq!(in_flight.choose(late[1..].to_vec()), late[1..2]);
    }
}
