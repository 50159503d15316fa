//! Refuses what would go from one space (the files of one account or team) to another: a request works in one space,
//! and what is in it is sealed for that one alone.

use crate::services::Services;
use crate::spaces::Location;
use cairn_api::ApiError;
use cairn_model::{NodeId, SpaceId};

/// The reason why something does not go to another space, and what to do instead.
pub(crate) const SPACES_DIFFER: &str =
    "the two are in different spaces: download it and upload it there instead";

/// Returns the space of all located ids; `None` where none is outside the account's own space, as far as is known.
///
/// # Errors
/// [`ApiError::Rejected`] if they are in several.
pub(crate) fn space_of(located: &[(String, Location)]) -> Result<Option<SpaceId>, ApiError> {
    let mut spaces = located.iter().map(|(_, location)| location.space());
    let first = spaces.next();
    match spaces.all(|space| Some(space) == first) {
        true => Ok(first),
        false => Err(differ_error()),
    }
}

fn differ_error() -> ApiError {
    ApiError::Rejected {
        status: 400,
        message: SPACES_DIFFER.to_owned(),
    }
}

impl Services {
    /// Refuses ids of several spaces, the account's own among them.
    ///
    /// # Errors
    /// As [`space_of`]; those of the service.
    pub(crate) async fn check_one_space(
        &self,
        ids: &[String],
        located: &[(String, Location)],
    ) -> Result<(), ApiError> {
        let Some(space) = space_of(located)? else {
            return Ok(());
        };
        if space == self.own_space_id().await? {
            return Ok(());
        }
        for id in ids {
            let is_located = located.iter().any(|(one, _)| one == id);
            if let (false, Ok(id)) = (is_located, id.parse::<NodeId>())
                && self.reads.node(id).await.is_ok()
            {
                return Err(differ_error());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_two_spaces_go_into_no_request() {
        let space = |n: u8| SpaceId::from_random_bytes([n; 16]);
        let node = ("a".to_owned(), Location::Node(space(1)));
        let top = |n| ("b".to_owned(), Location::Root(space(n)));
        assert_eq!(space_of(&[]).unwrap(), None);
        assert_eq!(space_of(&[node.clone(), top(1)]).unwrap(), Some(space(1)));
        let refused = space_of(&[node, top(2)]).unwrap_err().to_string();
        assert!(refused.contains("different spaces"), "{refused}");
    }
}
