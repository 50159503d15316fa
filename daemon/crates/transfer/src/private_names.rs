//! The names of a private space, as the REST client sends and takes them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cairn_api::{Api, ApiError, NameSeal};
use cairn_crypto::SpaceKeys;
use cairn_model::NodeId;
use std::sync::Arc;

/// Begins each sealed name.
const MARK: char = '~';

/// Returns a client that works in the space of these keys. In a private space it seals and opens names with them.
#[must_use]
pub fn api_in_space(api: &Api, keys: &Arc<SpaceKeys>) -> Arc<Api> {
    Arc::new(api.in_space(keys.space()).with_names(private_names(keys)))
}

/// Returns what seals and opens the names of a private space with its keys.
#[must_use]
pub fn private_names(keys: &Arc<SpaceKeys>) -> Arc<dyn NameSeal> {
    Arc::new(PrivateNames(keys.clone()))
}

#[derive(Debug)]
struct PrivateNames(Arc<SpaceKeys>);

impl NameSeal for PrivateNames {
    fn seal(&self, parent: Option<NodeId>, name: &str) -> Result<String, ApiError> {
        let sealed = self.0.seal_name(parent, name).map_err(|error| {
            let message = error.to_string();
            ApiError::Rejected {
                status: 400,
                message,
            }
        })?;
        let mut text = String::from(MARK);
        URL_SAFE_NO_PAD.encode_string(sealed, &mut text);
        Ok(text)
    }

    fn open(&self, sealed: &str) -> Option<String> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(MARK)?).ok()?;
        self.0.open_name(&sealed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{Name, SpaceId};

    #[test]
    fn a_name_on_the_wire_is_a_sealed_one_and_opens() {
        let space = SpaceId::private_from_random_bytes([1; 16]);
        let names = PrivateNames(Arc::new(SpaceKeys::from_raw(space, 1, &[2; 32]).unwrap()));
        for name in ["a", &"é".repeat(127), &"x".repeat(255)] {
            let sealed = names.seal(None, name).unwrap();
            assert!(Name::of_sealed(&sealed).is_some(), "{sealed}");
            assert_eq!(names.open(&sealed).as_deref(), Some(name));
        }
        for other in ["a", "~a", "~", ""] {
            assert_eq!(names.open(other), None);
        }
        names.seal(None, &"x".repeat(256)).unwrap_err();
    }
}
