//! Spaces (the files of one account or team) with their keys: the account's own, and those of teams whose key
//! was sealed to the account (granted). A team's key is opened anew for each call, since it changes when
//! somebody leaves.

use crate::error::{ToolError, ToolResult, quote_paths};
use crate::one_space::SPACES_DIFFER;
use crate::quote::quote;
use crate::services::Services;
use crate::spaces::{Location, top_error};
use cairn_api::{Api, ApiError, NameSeal};
use cairn_crypto::SpaceKeys;
use cairn_model::{NodeId, SpaceId, Verification};
use cairn_space::{Space, TeamError, TeamGrants};
use cairn_transfer::{Options, Transfer, api_in_space, private_names};
use cairn_wire::nodes::Node;
use cairn_wire::teams::Team;
use std::sync::Arc;

impl Services {
    /// Returns a node with its space, opened: the account's own or that of a team.
    ///
    /// # Errors
    /// [`ToolError::NoPassphrase`]; [`ToolError::Team`] if the team's key can't be used.
    pub(crate) async fn node_with_keys(&self, id: NodeId) -> ToolResult<(Space, Node)> {
        let own = self.space().await?;
        let space = match own.api().node(id).await {
            Ok(node) => return in_its_space(own, node),
            Err(error @ (ApiError::NotFound { .. } | ApiError::Forbidden { .. })) => {
                match self.locate(&id.to_string()).await? {
                    Some(Location::Node(space)) => self.team_space(space).await?,
                    Some(Location::Root(_)) => return Err(top_error(&id.to_string()).into()),
                    None => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        };
        let node = space.api().node(id).await?;
        in_its_space(space, node)
    }

    /// Returns a space, opened, with a folder of it. No id names the top of the account's own space; that of
    /// a team or a space names its top.
    ///
    /// # Errors
    /// As [`Self::node_with_keys`].
    pub(crate) async fn folder_with_keys(
        &self,
        id: Option<&str>,
    ) -> ToolResult<(Space, Option<NodeId>)> {
        let own = self.space().await?;
        let Some(id) = id else {
            return Ok((own, None));
        };
        if id.eq_ignore_ascii_case(&own.keys().space().to_string()) {
            return Ok((own, None));
        }
        let node: Option<NodeId> = id.parse().ok();
        if let Some(node) = node {
            match own.api().node(node).await {
                Ok(_) => return Ok((own, Some(node))),
                Err(ApiError::NotFound { .. } | ApiError::Forbidden { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match self.locate(id).await? {
            Some(Location::Root(space)) => Ok((self.team_space(space).await?, None)),
            Some(Location::Node(space)) => Ok((self.team_space(space).await?, node)),
            None => Err(ToolError::NotFound {
                what: format!("there is no folder `{id}`"),
                source_of_ids: "list_files and search_files give ids of folders, list_teams of teams",
            }),
        }
    }

    /// Returns the folder that an id names in a space, `None` for its top.
    ///
    /// # Errors
    /// [`ToolError::Refused`] for a folder of another space.
    pub(crate) async fn folder_in(&self, space: &Space, id: NodeId) -> ToolResult<Option<NodeId>> {
        let own = space.keys().space();
        let text = id.to_string();
        if text == own.to_string() {
            return Ok(None);
        }
        let missing = match space.api().node(id).await {
            Ok(_) => return Ok(Some(id)),
            Err(error @ (ApiError::NotFound { .. } | ApiError::Forbidden { .. })) => error,
            Err(error) => return Err(error.into()),
        };
        match self.locate(&text).await? {
            Some(Location::Root(space)) if space == own => Ok(None),
            None if !self.is_in_own_space(id).await? => Err(missing.into()),
            Some(_) | None => Err(ToolError::refused(SPACES_DIFFER)),
        }
    }

    async fn is_in_own_space(&self, id: NodeId) -> ToolResult<bool> {
        match self.reads.node(id).await {
            Ok(_) => Ok(true),
            Err(ApiError::NotFound { .. } | ApiError::Forbidden { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a node with its space, opened, if a change of it can be sealed; else the service makes it.
    ///
    /// # Errors
    /// [`ToolError::Team`] for a team's key that can't be trusted.
    pub(crate) async fn node_if_opened(&self, id: NodeId) -> ToolResult<Option<(Space, Node)>> {
        if self.space_if_any().await?.is_none() {
            return Ok(None);
        }
        check_opened(if_opened(self.node_with_keys(id).await)?)
    }

    /// Returns a node with its space, opened; `None` for an account without keys, and for what was not found.
    ///
    /// # Errors
    /// [`ToolError::WrongPassphrase`]; [`ToolError::Team`] for a node of a team whose key is not at hand, or can't be
    /// trusted.
    pub(crate) async fn node_to_share(&self, id: NodeId) -> ToolResult<Option<(Space, Node)>> {
        self.check_passphrase().await?;
        if self.space_if_any().await?.is_none() {
            return Ok(None);
        }
        match self.node_with_keys(id).await {
            Err(error @ ToolError::Team(_)) => Err(error),
            opened => check_opened(if_opened(opened)?),
        }
    }

    /// Returns a space, opened, with a folder of it, if a change in it can be sealed.
    ///
    /// # Errors
    /// As [`Self::node_if_opened`].
    pub(crate) async fn folder_if_opened(
        &self,
        id: Option<&str>,
    ) -> ToolResult<Option<(Space, Option<NodeId>)>> {
        if self.space_if_possible().await?.is_none() {
            return Ok(None);
        }
        if_opened(self.folder_with_keys(id).await)
    }

    /// Opens the space of one of the caller's teams.
    ///
    /// # Errors
    /// [`ToolError::Team`] if the team's key can't be used; [`ToolError::Refused`] for a space of no team.
    pub(crate) async fn team_space(&self, space: SpaceId) -> ToolResult<Space> {
        let teams = self.teams().await?;
        let team = teams.into_iter().find(|team| team.space_id == space);
        let team = team.ok_or_else(|| ToolError::refused("you no longer belong to its team"))?;
        let keys = self.team_keys(&team).await?;
        let api = api_in_space(&self.reads, &keys);
        let device = self.reads.device();
        let transfer = Transfer::new(api.clone(), keys.clone(), device, Options::default());
        let opened = Space::new(api, keys, transfer);
        Ok(match self.trust.seen_seals(Some(space)) {
            Some(seen) => opened.with_seen(seen),
            None => opened,
        })
    }

    /// Returns a client for the space of one of the caller's teams. In a private space it opens names where the
    /// space's key is at hand; without it they stay sealed.
    pub(crate) async fn reads_in(&self, space: SpaceId) -> Api {
        let api = self.reads.in_space(space);
        match self.names_of(space).await {
            Some(names) => api.with_names(names),
            None => api,
        }
    }

    /// Returns what opens the names of a private space; `None` for any other one, and without its key.
    pub(crate) async fn names_of(&self, space: SpaceId) -> Option<Arc<dyn NameSeal>> {
        if !space.is_private() {
            return None;
        }
        let teams = self.teams().await.ok()?;
        let team = teams.into_iter().find(|team| team.space_id == space)?;
        let keys = self.team_keys(&team).await.ok()?;
        Some(private_names(&keys))
    }

    /// Opens the keys of a team's space.
    ///
    /// # Errors
    /// [`ToolError::Team`] if the team's key can't be used.
    pub(crate) async fn open_team_keys(&self, team: &Team) -> ToolResult<SpaceKeys> {
        let grants = TeamGrants::fetch(&self.reads, team).await?;
        let own = self.unlocked_keys().await?;
        let trust = self.trust.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let mut opened = None;
            let updated = trust.update(&own, &mut |trust| opened = Some(grants.open(&own, trust)));
            (opened, updated)
        });
        let (opened, updated) = opened.await.map_err(|_| ToolError::Internal)?;
        updated.map_err(ToolError::Quoting)?;
        let ring = opened.ok_or(ToolError::Internal)??;
        Ok(ring.keys())
    }

    /// Refuses to hand out content at these paths, which no device with the keys has put there, where this
    /// device is strict.
    ///
    /// # Errors
    /// [`ToolError::Refused`] with the paths.
    pub(crate) fn check_verified(&self, unverified: &[String]) -> ToolResult {
        let mode = self.trust.verification().map_err(ToolError::refused)?;
        if unverified.is_empty() || mode == Verification::Warn {
            return Ok(());
        }
        Err(ToolError::refused(format!(
            "no device of yours has put this where it is, or this one has seen a later state of it, and `sync.verify` is strict: {}; a person who trusts it can run `cairn config set sync.verify warn`",
            quote_paths(unverified)
        )))
    }
}

/// Returns `None` where no passphrase or no grant of a team's key is at hand, and for what was not found or belongs
/// to somebody else, for which the service's own reply is more exact.
fn if_opened<T>(opened: ToolResult<T>) -> ToolResult<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(
            ToolError::NoPassphrase
            | ToolError::WrongPassphrase
            | ToolError::Team(TeamError::NotGranted { .. })
            | ToolError::NotFound { .. }
            | ToolError::Api(ApiError::NotFound { .. } | ApiError::Forbidden { .. }),
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses a node that can't be sealed anew, as [`Space::check`] does.
fn check_opened(opened: Option<(Space, Node)>) -> ToolResult<Option<(Space, Node)>> {
    if let Some((space, node)) = &opened {
        space.check(node)?;
    }
    Ok(opened)
}

fn in_its_space(space: Space, node: Node) -> ToolResult<(Space, Node)> {
    if node.space_id == space.keys().space() {
        return Ok((space, node));
    }
    Err(ToolError::refused(format!(
        "{} belongs to another space, whose keys are not open here",
        quote(&node.name)
    )))
}
