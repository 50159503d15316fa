//! Finds the space (the files of one account or team) of each id that a request names, so that ids of team files work
//! like one's own. A request goes to the account's own space; what is not found there is looked for in the spaces of
//! the caller's teams, and the space remembered. The id of a space, or of a team, names the root of that space.

use crate::arguments::is_uuid;
use crate::one_space::space_of;
use crate::services::Services;
use cairn_api::{ApiError, CallFailure, Method};
use cairn_model::{NodeId, SpaceId};
use cairn_wire::teams::Team;
use serde_json::Value;

/// Requests below these paths name nodes.
const NODE_PATHS: [&str; 6] = [
    "nodes",
    "trash",
    "shares",
    "webshare",
    "ai",
    "retention-rules",
];

/// Parameters of lists, which tell nothing of what is in them.
const PLAIN: [&str; 4] = ["page", "page_size", "state", "sort_by"];

/// The field with the folder of a node, which may be the top of a space.
const PARENT: &str = "parent_id";

/// The location of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Location {
    /// A node of a team's space.
    Node(SpaceId),
    /// The top of a space.
    Root(SpaceId),
}

impl Location {
    pub(crate) fn space(self) -> SpaceId {
        match self {
            Self::Node(space) | Self::Root(space) => space,
        }
    }
}

/// A request as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) root: String,
    pub(crate) method: Method,
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<Value>,
}

impl Sent {
    /// Returns the ids that may name nodes.
    fn ids(&self) -> Vec<String> {
        if !NODE_PATHS.contains(&self.path.first().map_or("", String::as_str)) {
            return Vec::new();
        }
        let body = self.body.as_ref().and_then(Value::as_object);
        let body = body.into_iter().flatten();
        let body = body.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        let query = self.query.iter();
        let query = query.map(|(name, value)| (name.as_str(), value.as_str()));
        let named = query.chain(body).filter(|(name, _)| is_id_field(name));
        self.path
            .iter()
            .map(String::as_str)
            .chain(named.map(|(_, value)| value))
            .filter(|text| is_uuid(text))
            .map(str::to_lowercase)
            .collect()
    }

    /// Returns whether the request has a text besides ids.
    fn has_texts(&self) -> bool {
        let body = self.body.as_ref().and_then(Value::as_object);
        let mut fields = body.into_iter().flatten();
        let is_text = |value: &Value| match value {
            Value::String(text) => !is_uuid(text),
            Value::Array(_) | Value::Object(_) => true,
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        let mut query = self.query.iter();
        query.any(|(name, value)| !PLAIN.contains(&name.as_str()) && !is_uuid(value))
            || fields.any(|(_, value)| is_text(value))
    }

    /// Names the top of the space in place of the id of a team or space.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] where a file or folder is needed, which the top is not.
    fn with_root(mut self, id: &str) -> Result<Self, ApiError> {
        if self.path.iter().any(|part| part.eq_ignore_ascii_case(id)) {
            return Err(top_error(id));
        }
        self.query
            .retain(|(name, value)| !(is_id_field(name) && value.eq_ignore_ascii_case(id)));
        let fields = self.body.as_mut().and_then(Value::as_object_mut);
        for (name, value) in fields.into_iter().flatten() {
            let is_it = is_id_field(name)
                && value
                    .as_str()
                    .is_some_and(|text| text.eq_ignore_ascii_case(id));
            if !is_it {
                continue;
            }
            if name != PARENT {
                return Err(top_error(id));
            }
            *value = Value::Null;
        }
        Ok(self)
    }
}

/// Returns the error for the top of a space where a file or folder is needed.
pub(crate) fn top_error(id: &str) -> ApiError {
    ApiError::Rejected {
        status: 400,
        message: format!(
            "{id} is the id of a space or team, the top of which is no file or folder of its own: give that of a file or folder in it"
        ),
    }
}

/// Returns true for the fields of requests that have the ids of nodes; others may have any text.
fn is_id_field(name: &str) -> bool {
    name.ends_with("_id")
}

/// Returns true for the errors with which a space says that it has no such id.
fn is_elsewhere(error: &ApiError) -> bool {
    matches!(
        error,
        ApiError::NotFound { .. } | ApiError::Forbidden { .. }
    )
}

impl Services {
    /// Sends a request in the space that its ids belong to.
    ///
    /// # Errors
    /// [`CallFailure`] of the first request, if no other space has the ids.
    pub(crate) async fn send(&self, sent: Sent) -> Result<Value, CallFailure> {
        let ids = sent.ids();
        if sent.has_texts() && !ids.is_empty() {
            self.find_private_locations(&ids).await?;
        }
        let known = self.known_locations(&ids);
        let failure = match self.send_at(&sent, &known).await {
            Err(failure) if !ids.is_empty() && is_elsewhere(&failure.error) => failure,
            response => return response,
        };
        self.find_locations(&ids).await?;
        let found = self.known_locations(&ids);
        self.check_one_space(&ids, &found).await?;
        if found == known {
            return Err(failure);
        }
        self.send_at(&sent, &found).await
    }

    /// Looks for ids in the caller's private spaces, before a text is sent to another one: the server would learn from it
    /// what is in them.
    ///
    /// # Errors
    /// [`ApiError`] if the caller's teams can't be listed.
    pub(crate) async fn find_private_locations(&self, ids: &[String]) -> Result<(), ApiError> {
        let known = self.known_locations(ids);
        if ids.iter().all(|id| known.iter().any(|(one, _)| one == id)) {
            return Ok(());
        }
        let teams = match self.teams().await {
            Ok(teams) => teams,
            // A service of somebody else's has none, or other ones.
            Err(ApiError::Protocol(_)) => return Ok(()),
            Err(error) if is_elsewhere(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        match teams.iter().any(|team| team.space_id.is_private()) {
            true => self.find_locations(ids).await,
            false => Ok(()),
        }
    }

    /// Sends a request with the ids at these locations; ids of spaces become their roots.
    async fn send_at(
        &self,
        sent: &Sent,
        located: &[(String, Location)],
    ) -> Result<Value, CallFailure> {
        let space = space_of(located)?;
        let mut sent = sent.clone();
        for (id, location) in located {
            if matches!(location, Location::Root(_)) {
                sent = sent.with_root(id)?;
            }
        }
        self.send_in(space, &sent).await
    }

    async fn send_in(&self, space: Option<SpaceId>, sent: &Sent) -> Result<Value, CallFailure> {
        let own = if sent.method == Method::GET {
            &self.reads
        } else {
            &self.writes
        };
        let path: Vec<_> = sent.path.iter().map(String::as_str).collect();
        let (method, body) = (sent.method.clone(), sent.body.as_ref());
        match space {
            None => {
                own.call_under(&sent.root, method, &path, &sent.query, body)
                    .await
            }
            Some(space) => {
                let mut api = own.in_space(space);
                if let Some(names) = Box::pin(self.names_of(space)).await {
                    api = api.with_names(names);
                }
                api.call_under(&sent.root, method, &path, &sent.query, body)
                    .await
            }
        }
    }

    pub(crate) fn known_location(&self, id: &str) -> Option<Location> {
        self.locations.lock().get(id).copied()
    }

    fn known_locations(&self, ids: &[String]) -> Vec<(String, Location)> {
        let locations = self.locations.lock();
        ids.iter()
            .filter_map(|id| Some((id.clone(), *locations.get(id)?)))
            .collect()
    }

    /// Looks for ids outside the account's own space, and remembers what it finds.
    async fn find_locations(&self, ids: &[String]) -> Result<(), ApiError> {
        let own = self.own_space_id().await?;
        let teams = self.teams().await?;
        let known = self.known_locations(ids);
        for id in ids {
            if known.iter().any(|(known, _)| known == id) {
                continue;
            }
            if let Some(location) = self.find_location(id, own, &teams).await {
                self.locations.lock().insert(id.clone(), location);
            }
        }
        Ok(())
    }

    async fn find_location(&self, id: &str, own: SpaceId, teams: &[Team]) -> Option<Location> {
        let is = |other: String| other.eq_ignore_ascii_case(id);
        if is(own.to_string()) {
            return Some(Location::Root(own));
        }
        let named = teams
            .iter()
            .find(|team| is(team.id.to_string()) || is(team.space_id.to_string()));
        if let Some(team) = named {
            return Some(Location::Root(team.space_id));
        }
        let node = id.parse::<NodeId>().ok()?;
        for team in teams {
            if self.reads.in_space(team.space_id).node(node).await.is_ok() {
                return Some(Location::Node(team.space_id));
            }
        }
        None
    }

    /// Returns where an id is, if not in the account's own space.
    ///
    /// # Errors
    /// [`ApiError`] if the caller's teams can't be listed.
    pub(crate) async fn locate(&self, id: &str) -> Result<Option<Location>, ApiError> {
        let ids = [id.to_lowercase()];
        if self.known_locations(&ids).is_empty() {
            self.find_locations(&ids).await?;
        }
        let known = self.known_locations(&ids);
        Ok(known.first().map(|(_, location)| *location))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "123e4567-e89b-42d3-a456-426614174000";

    fn sent(body: Value) -> Sent {
        Sent {
            root: "/api/v1".to_owned(),
            method: Method::POST,
            path: vec!["nodes".to_owned()],
            query: Vec::new(),
            body: Some(body),
        }
    }

    #[test]
    fn only_fields_for_ids_name_nodes() {
        assert_eq!(sent(json!({ "parent_id": ID })).ids(), [ID]);
        let text = sent(json!({ "text": ID, "name": ID, "description": ID }));
        assert_eq!(text.ids(), Vec::<String>::new());
        let kept = text.clone().with_root(ID).unwrap();
        assert_eq!(kept.body, text.body);
    }

    #[test]
    fn a_space_stands_for_its_top_and_for_no_folder() {
        let top = sent(json!({ "parent_id": ID, "name": "a" }));
        let top = top.with_root(&ID.to_uppercase()).unwrap();
        assert_eq!(top.body, Some(json!({ "parent_id": null, "name": "a" })));
        let refused = sent(json!({ "folder_id": ID })).with_root(ID).unwrap_err();
        assert!(refused.to_string().contains("space or team"), "{refused}");
        let mut one = sent(json!({ "name": "a" }));
        one.path.push(ID.to_owned());
        let refused = one.with_root(ID).unwrap_err();
        assert!(
            refused.to_string().contains("no file or folder of its own"),
            "{refused}"
        );
    }
}
