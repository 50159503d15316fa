//! The responses to requests with an `Idempotency-Key` that stay in memory, and the requests that run.

use cairn_model::AccountId;
use cairn_store::Remembered;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

const KEPT_MS: i64 = 24 * 3600 * 1000;
/// Responses kept in memory; an account that adds one to as many loses its oldest.
const MOST_UNWRITTEN: usize = 10_000;

/// The account that sent a request, and the key that it chose.
pub(crate) type Name = (AccountId, String);

/// Requests on their way, and responses that must not be written down (`Cache-Control: no-store`).
#[derive(Default)]
pub(crate) struct KeptResponses {
    running: Mutex<HashMap<Name, Arc<Turn<()>>>>,
    unwritten: Mutex<HashMap<Name, (Remembered, i64)>>,
}

impl KeptResponses {
    /// Waits until no other request of this name runs.
    pub(crate) async fn begin(&self, name: &Name) -> Running<'_> {
        let turn = {
            let mut running = self.running.lock();
            running.entry(name.clone()).or_default().clone()
        };
        let turn = Some(turn.lock_owned().await);
        Running {
            kept: self,
            name: name.clone(),
            turn,
        }
    }

    /// Keeps a response in memory.
    pub(crate) fn keep(&self, name: Name, response: Remembered, now: i64) {
        let account = name.0;
        let mut responses = self.unwritten.lock();
        responses.insert(name, (response, now));
        if responses.len() <= MOST_UNWRITTEN {
            return;
        }
        let oldest = responses
            .iter()
            .filter(|((of, _), _)| *of == account)
            .min_by_key(|(_, (_, at))| *at)
            .map(|(name, _)| name.clone());
        if let Some(oldest) = oldest {
            responses.remove(&oldest);
        }
    }

    /// Returns a response that was kept in memory less than a day ago.
    pub(crate) fn unwritten_response(&self, name: &Name, now: i64) -> Option<Remembered> {
        let responses = self.unwritten.lock();
        responses
            .get(name)
            .filter(|(_, at)| now - at < KEPT_MS)
            .map(|(response, _)| response.clone())
    }

    /// Drops responses that are older than a day.
    pub(crate) fn forget_old(&self, now: i64) {
        self.unwritten
            .lock()
            .retain(|_, (_, at)| now - *at < KEPT_MS);
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        self.unwritten.lock().clear();
    }
}

/// The turn of one request; another with the same key waits for its end.
pub(crate) struct Running<'a> {
    kept: &'a KeptResponses,
    name: Name,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut running = self.kept.running.lock();
        self.turn = None;
        // Only the map has it: no other request waits.
        if running
            .get(&self.name)
            .is_some_and(|turn| Arc::strong_count(turn) == 1)
        {
            running.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_with_too_many_responses_loses_its_oldest() {
        let (one, other) = (
            AccountId::from_random_bytes([1; 16]),
            AccountId::from_random_bytes([2; 16]),
        );
        let response = Remembered {
            request: [0; 32],
            status: 201,
            headers: Vec::new(),
            body: Vec::new(),
        };
        let kept = KeptResponses::default();
        kept.keep((other, "first".to_owned()), response.clone(), 0);
        for number in 0..MOST_UNWRITTEN {
            let at = i64::try_from(number).unwrap() + 1;
            kept.keep((one, number.to_string()), response.clone(), at);
        }
        let has = |account, key: &str| {
            kept.unwritten_response(&(account, key.to_owned()), 1)
                .is_some()
        };
        assert!(has(other, "first") && has(one, "1") && has(one, "9999"));
        assert!(!has(one, "0"));
    }
}
