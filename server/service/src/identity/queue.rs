//! The queue before the checks of passwords. Each takes a core for a while, so whoever asks for many at once must
//! not keep the others waiting: a network has few places in the queue, and all networks together have a bounded
//! number.

use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Checks of one network that run or wait at once.
const PER_NETWORK: usize = 16;
/// Checks of all networks that run or wait at once: the last of them waits about two seconds.
const IN_ALL: usize = 64;

/// The number of checks that run or wait, by the masked address that they come from.
#[derive(Default)]
pub(crate) struct Queue(Mutex<HashMap<String, usize>>);

/// A place in the queue, which is given up when it is dropped.
pub(crate) struct Place<'a> {
    queue: &'a Queue,
    from: String,
}

impl Queue {
    /// Takes a place for a check that comes from a network.
    ///
    /// # Errors
    /// [`Error::RateLimited`] where the network, or all networks together, have taken all of theirs.
    pub(crate) fn enter(&self, from: &str) -> Result<Place<'_>> {
        let mut places = self.0.lock();
        let taken = places.get(from).copied().unwrap_or_default();
        if taken >= PER_NETWORK || places.values().sum::<usize>() >= IN_ALL {
            return Err(Error::RateLimited {
                endpoint: "the login".into(),
                retry_after: 1,
            });
        }
        places.insert(from.to_owned(), taken + 1);
        drop(places);
        Ok(Place {
            queue: self,
            from: from.to_owned(),
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut places = self.queue.0.lock();
        if let Some(taken) = places.get_mut(&self.from) {
            *taken -= 1;
            if *taken == 0 {
                places.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_takes_its_own_places_and_leaves_those_of_others() {
        let queue = Queue::default();
        let mut taken: Vec<Place<'_>> = (0..PER_NETWORK)
            .map(|_| queue.enter("192.0.2.xxx").unwrap())
            .collect();
        assert!(matches!(
            queue.enter("192.0.2.xxx"),
            Err(Error::RateLimited { retry_after: 1, .. })
        ));
        let other = queue.enter("198.51.100.xxx").unwrap();
        taken.pop();
        taken.push(queue.enter("192.0.2.xxx").unwrap());
        drop((taken, other));
        assert!(queue.0.lock().is_empty());
    }

    #[test]
    fn all_networks_together_have_a_bounded_number_of_places() {
        let queue = Queue::default();
        let taken: Vec<Place<'_>> = (0..IN_ALL)
            .map(|number| queue.enter(&number.to_string()).unwrap())
            .collect();
        assert!(queue.enter("another").is_err());
        drop(taken);
        assert!(queue.enter("another").is_ok());
    }
}
