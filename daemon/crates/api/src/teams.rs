//! Teams: listing, making, inviting, members, and the keys of their spaces (a space: the team's files). A grant
//! is the space's key, sealed to one member; an epoch is one generation of that key.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use cairn_model::{AccountId, TeamId};
use cairn_wire::teams::{
    ChangeRole, CreateTeam, Invitation, InviteMember, NameTeam, Offboarded, PutGrants, Team,
    TeamKeys, TeamMember, TeamRole,
};
use http::Method;
use uuid::Uuid;

impl Api {
    /// `GET /teams`: all teams of the account.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn teams(&self) -> Result<Vec<Team>, ApiError> {
        self.all_pages("/api/v1/teams", &()).await
    }

    /// `POST /teams`: makes a team that the account owns.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for a name that is empty or too long.
    pub async fn create_team(&self, name: &str) -> Result<Team, ApiError> {
        self.create_team_of(name, false).await
    }

    /// `POST /teams`: makes a team that the account owns, with a private space.
    ///
    /// # Errors
    /// As [`Api::create_team`]; [`ApiError::Protocol`] for another space, as an older server makes it.
    pub async fn create_private_team(&self, name: &str) -> Result<Team, ApiError> {
        let team = self.create_team_of(name, true).await?;
        if team.space_id.is_private() {
            return Ok(team);
        }
        Err(ApiError::Protocol(
            "the server has made a space in which it can read names".to_owned(),
        ))
    }

    async fn create_team_of(&self, name: &str, private: bool) -> Result<Team, ApiError> {
        let body = CreateTeam {
            name: name.to_owned(),
            private,
        };
        self.json(self.with_idempotency_key(Call::new(Method::POST, "/api/v1/teams").json(&body)?)?)
            .await
    }

    /// `DELETE /teams/{id}`: deletes a team with all of its files, for good.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] if the account is not its owner.
    pub async fn delete_team(&self, team: TeamId) -> Result<(), ApiError> {
        self.delete(Call::new(Method::DELETE, format!("/api/v1/teams/{team}")))
            .await
    }

    /// `GET /teams/{id}/members`: all members of a team.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a team that the account does not belong to.
    pub async fn team_members(&self, team: TeamId) -> Result<Vec<TeamMember>, ApiError> {
        self.all_pages(&format!("/api/v1/teams/{team}/members"), &())
            .await
    }

    /// `PUT /teams/{id}`: gives a team another name.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a member who is no admin, [`ApiError::Rejected`] for a name that is empty or too
    /// long.
    pub async fn rename_team(&self, team: TeamId, name: &str) -> Result<Team, ApiError> {
        let name = NameTeam {
            name: name.to_owned(),
        };
        let call = Call::new(Method::PUT, format!("/api/v1/teams/{team}"));
        self.json(call.json(&name)?.mark_idempotent()).await
    }

    /// `PUT /teams/{id}/members/{user_id}`: makes a member an admin, or an admin a member.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a member who is no admin, and for the owner's role.
    pub async fn change_role(
        &self,
        team: TeamId,
        user: AccountId,
        role: TeamRole,
    ) -> Result<TeamMember, ApiError> {
        let path = format!("/api/v1/teams/{team}/members/{user}");
        let call = Call::new(Method::PUT, path).json(&ChangeRole { role })?;
        self.json(call.mark_idempotent()).await
    }

    /// `DELETE /teams/{id}/members/{user_id}`: takes a member out of a team, such as the account itself.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for another one if the account is no admin, and for the owner.
    pub async fn remove_member(&self, team: TeamId, user: AccountId) -> Result<(), ApiError> {
        let path = format!("/api/v1/teams/{team}/members/{user}");
        self.delete(Call::new(Method::DELETE, path)).await
    }

    /// `POST /teams/{id}/members/{user_id}/offboard`: takes a member out, and tells what that has ended.
    ///
    /// # Errors
    /// Fails like [`Api::remove_member`].
    pub async fn offboard(&self, team: TeamId, user: AccountId) -> Result<Offboarded, ApiError> {
        let path = format!("/api/v1/teams/{team}/members/{user}/offboard");
        self.json(self.with_idempotency_key(Call::new(Method::POST, path))?)
            .await
    }

    /// `GET /teams/{id}/keys`: the account's grants, and all members' public keys.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a team that the account does not belong to.
    pub async fn team_keys(&self, team: TeamId) -> Result<TeamKeys, ApiError> {
        self.json(Call::get(format!("/api/v1/teams/{team}/keys")))
            .await
    }

    /// `PUT /teams/{id}/keys`: stores grants; one that is there already changes nothing.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a member who is no admin, [`ApiError::Conflict`] for an epoch that
    /// is yet to come, or a member who has another grant.
    pub async fn put_grants(&self, team: TeamId, grants: &PutGrants) -> Result<TeamKeys, ApiError> {
        let call = Call::new(Method::PUT, format!("/api/v1/teams/{team}/keys"));
        self.json(call.json(grants)?.mark_idempotent()).await
    }

    /// `POST /teams/{id}/invite`: invites an address by mail.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for a member who is no admin, [`ApiError::Conflict`] for somebody
    /// who is in the team or invited already.
    pub async fn invite(
        &self,
        team: TeamId,
        invitation: &InviteMember,
    ) -> Result<Invitation, ApiError> {
        let call = Call::new(Method::POST, format!("/api/v1/teams/{team}/invite"));
        self.json(self.with_idempotency_key(call.json(invitation)?)?)
            .await
    }

    /// `GET /teams/invitations`: the invitations that the account has neither accepted nor declined.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn invitations(&self) -> Result<Vec<Invitation>, ApiError> {
        self.all_pages("/api/v1/teams/invitations", &()).await
    }

    /// `POST /teams/invitations/{id}/accept`: joins the team.
    ///
    /// # Errors
    /// [`ApiError::Forbidden`] for another's invitation, [`ApiError::Gone`] for one that is no longer
    /// open.
    pub async fn accept_invitation(&self, invitation: Uuid) -> Result<Team, ApiError> {
        let path = format!("/api/v1/teams/invitations/{invitation}/accept");
        self.json(self.with_idempotency_key(Call::new(Method::POST, path))?)
            .await
    }

    /// `POST /teams/invitations/{id}/decline`.
    ///
    /// # Errors
    /// Fails like [`Api::accept_invitation`].
    pub async fn decline_invitation(&self, invitation: Uuid) -> Result<(), ApiError> {
        let path = format!("/api/v1/teams/invitations/{invitation}/decline");
        self.send_for_status(self.with_idempotency_key(Call::new(Method::POST, path))?)
            .await
    }
}
