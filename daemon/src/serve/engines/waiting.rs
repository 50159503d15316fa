//! A sync that somebody waits for: asking the service for changes now, and the end of all work in all spaces.

use super::Engines;
use crate::failure::CommandResult;
use crate::folders::pairs::Pair;
use crate::serve::halt::Halt;
use cairn_control::TeamSpace;
use cairn_engine::{EngineError, EngineHandle, WaitResult};
use cairn_model::SyncState;
use futures_util::future::{join, join_all};
use std::sync::Arc;

impl Engines {
    /// Asks the service for changes now, for one pair or for all.
    ///
    /// # Errors
    /// The service can't be reached, or refuses the login.
    pub(in crate::serve) async fn poll(&self, pair: Option<&Pair>) -> CommandResult {
        let engines = match pair {
            Some(pair) => vec![(pair.space.clone(), self.of(pair))],
            None => {
                let parts = self.parts().into_iter();
                parts.map(|part| (part.space, part.engine)).collect()
            }
        };
        for (space, engine) in engines {
            let engine = match engine {
                Err(_) => self.check_halted(space.as_ref()).await,
                runs => runs,
            };
            match engine {
                Ok(engine) => self.poll_one(space.as_ref(), &engine).await?,
                Err(halt) => halt.check_connection()?,
            }
        }
        Ok(())
    }

    /// Looks again at a space of which no engine runs: what has kept it from that may be over.
    async fn check_halted(&self, space: Option<&TeamSpace>) -> Result<Arc<EngineHandle>, Halt> {
        match space.map(|space| self.team(space)) {
            None => self.own.check().await,
            Some(Some(team)) => team.check().await,
            Some(None) => {}
        }
        self.of_space(space)
    }

    async fn poll_one(&self, space: Option<&TeamSpace>, engine: &EngineHandle) -> CommandResult {
        let failure = match engine.poll().await {
            // Another one takes its place, or the status says why none does.
            Err(EngineError::Stopped) => return Ok(()),
            polled => match polled? {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            },
        };
        let team = space.and_then(|space| self.team(space));
        if let Some(team) = team.filter(|_| failure.state == SyncState::Error) {
            // The account may have left the team since the last check, which then says so.
            team.check().await;
            if let Err(halt) = team.engine() {
                return halt.check_connection();
            }
        }
        Err(failure.into())
    }

    /// Waits until all spaces are in sync, or what is left needs a person.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] if the daemon ends meanwhile.
    pub(in crate::serve) async fn wait_until_idle(&self) -> Result<WaitResult, EngineError> {
        if let Err(error) = self.retry_broken() {
            tracing::warn!(%error, "the spaces that could not be opened can't be looked at again");
        }
        // A team would say that the keys were replaced while those of this home are being taken over.
        self.own.finish_take_over().await;
        let teams = self.teams();
        let waiting = join_all(teams.iter().map(|team| team.wait_until_idle()));
        let (own, teams) = join(self.own.wait_until_idle(), waiting).await;
        let teams: Vec<WaitResult> = teams
            .into_iter()
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        let own_is_used = self.own.has_folders()?;
        let own = Some(own?).filter(|_| own_is_used || teams.is_empty());
        let broken = self.broken.lock().len();
        let broken = std::iter::repeat_n(WaitResult::NeedsPerson, broken);
        Ok(combine(own.into_iter().chain(teams).chain(broken)))
    }
}

/// Returns the end of waiting for several spaces.
fn combine(results: impl Iterator<Item = WaitResult>) -> WaitResult {
    let results: Vec<WaitResult> = results.collect();
    let any = |wanted| results.contains(&wanted);
    if any(WaitResult::LoginEnded) {
        WaitResult::LoginEnded
    } else if any(WaitResult::NeedsPerson) {
        WaitResult::NeedsPerson
    } else if any(WaitResult::Paused) {
        WaitResult::Paused
    } else {
        WaitResult::InSync
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_what_a_person_has_to_do_first() {
        use WaitResult::{InSync, LoginEnded, NeedsPerson, Paused};
        for (results, expected) in [
            (&[InSync, NeedsPerson][..], NeedsPerson),
            (&[LoginEnded, NeedsPerson], LoginEnded),
            (&[Paused, InSync], Paused),
            (&[Paused, NeedsPerson], NeedsPerson),
            (&[InSync, InSync], InSync),
            (&[Paused, Paused], Paused),
            (&[], InSync),
        ] {
            assert_eq!(combine(results.iter().copied()), expected, "{results:?}");
        }
    }
}
