//! Files and folders: `/nodes`, the trash, revisions, search.

use crate::call::Call;
use crate::client::Api;
use crate::error::ApiError;
use crate::names::is_same_name;
use crate::paging::Paging;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cairn_model::name::search_key;
use cairn_model::{NodeId, RevisionId};
use cairn_wire::nodes::{
    CopyNode, CreateNode, DeleteNode, Emptied, FileRevisions, FilesRevisions, FolderSizes,
    ListFolderSizes, ListNodes, Node, NodeBatch, NodeResults, NodeState, Revision, RevisionsAt,
    UpdateNode,
};
use cairn_wire::{Page, Sealed, Timestamp, headers};
use http::Method;

const NODES: &str = "/api/v1/nodes";

impl Api {
    /// `GET /nodes`: one page of a folder, or of the trash.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn list_nodes(&self, query: &ListNodes) -> Result<Page<Node>, ApiError> {
        self.json_with_names(Call::get(NODES).query(query)?).await
    }

    /// Returns all nodes of a folder (`None`: the top of the space), or those of one name.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] if `parent` is not a folder.
    pub async fn children(
        &self,
        parent: Option<NodeId>,
        name: Option<&str>,
    ) -> Result<Vec<Node>, ApiError> {
        let Some(name) = name else {
            return self.all_children(parent).await;
        };
        let query = ListNodes {
            parent_id: parent,
            name: Some(self.wire_name(parent, name)?),
            ..Default::default()
        };
        let found: Vec<Node> = self.named_pages(NODES, &query).await?;
        if !found.is_empty() || !self.is_private() {
            return Ok(found);
        }
        // A copy of a folder, and what was sealed with an earlier key, have other sealed names.
        let mut all = self.all_children(parent).await?;
        all.retain(|node| is_same_name(&node.name, name));
        Ok(all)
    }

    async fn all_children(&self, parent: Option<NodeId>) -> Result<Vec<Node>, ApiError> {
        let query = ListNodes {
            parent_id: parent,
            ..Default::default()
        };
        let mut all: Vec<Node> = self.named_pages(NODES, &query).await?;
        if self.is_private() {
            // The server has sorted them by their sealed names.
            all.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(all)
    }

    /// `GET /nodes/folder-sizes`: what each folder of a folder has below it.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] if `parent` is not there, and from a server that has no sizes.
    pub async fn folder_sizes(&self, parent: Option<NodeId>) -> Result<FolderSizes, ApiError> {
        let query = ListFolderSizes { parent_id: parent };
        self.json(Call::get(format!("{NODES}/folder-sizes")).query(&query)?)
            .await
    }

    /// `GET /nodes/{id}`.
    ///
    /// # Errors
    /// [`ApiError::NotFound`]; [`ApiError::Forbidden`] for a node of someone else.
    pub async fn node(&self, id: NodeId) -> Result<Node, ApiError> {
        self.json_with_names(Call::get(format!("{NODES}/{id}")))
            .await
    }

    /// `POST /nodes`: makes a folder. Repeating it with the same id is the same request.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if the name is taken.
    pub async fn create_folder(&self, folder: &CreateNode) -> Result<Node, ApiError> {
        let call = Call::new(Method::POST, NODES).json(&self.wire_folder(folder)?)?;
        self.json_with_names(self.with_idempotency_key(call)?).await
    }

    /// `PUT /nodes/{id}`: changes the given fields at once; `version` guards against changes
    /// that were not seen. After a lost response the node is looked at: a change that was made is no failure.
    ///
    /// # Errors
    /// [`ApiError::PreconditionFailed`] for another version, [`ApiError::Conflict`] if the name
    /// is taken or a folder would be inside itself.
    pub async fn update_node(
        &self,
        id: NodeId,
        version: Option<u64>,
        change: &UpdateNode,
    ) -> Result<Node, ApiError> {
        let sent = Box::pin(self.wire_update(id, change)).await?;
        let call = Call::new(Method::PUT, format!("{NODES}/{id}")).json(&sent)?;
        match version {
            Some(version) => self.update_version(call, version, change).await,
            None => self.json_with_names(call.mark_idempotent()).await,
        }
    }

    /// `DELETE /nodes/{id}`: into the trash, with everything below. Nothing is
    /// deleted if another device changed something in it after the feed position `seen`.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if another device changed something in it after `seen`; [`ApiError::NotFound`] if it
    /// is in the trash already.
    pub async fn delete_node(
        &self,
        id: NodeId,
        seen: Option<&str>,
        seal: Option<&Sealed>,
    ) -> Result<(), ApiError> {
        let query = DeleteNode {
            seen: seen.map(Into::into),
        };
        let call = Call::new(Method::DELETE, format!("{NODES}/{id}")).query(&query)?;
        let call = match seal {
            Some(seal) => call.header(headers::NODE_SEAL, &STANDARD.encode(&seal.0))?,
            None => call,
        };
        self.delete(call).await
    }

    /// `POST /nodes/batch`: up to 1,000 operations, a result for each, in their order.
    ///
    /// # Errors
    /// [`ApiError::Protocol`] if the number of results is another.
    pub async fn node_batch(&self, batch: &NodeBatch) -> Result<NodeResults, ApiError> {
        let sent = self.wire_operations(batch)?;
        let call = Call::new(Method::POST, format!("{NODES}/batch")).json(sent.as_ref())?;
        let results: NodeResults = self
            .json_with_names(self.with_idempotency_key(call)?)
            .await?;
        check_result_count(results.results.len(), batch.operations.len())?;
        Ok(results)
    }

    /// `POST /nodes/{id}/copy`: a file, or a folder with everything below, in one step; `version` guards
    /// against changes of the original that were not seen.
    ///
    /// # Errors
    /// [`ApiError::Conflict`] if the name is taken, [`ApiError::PreconditionFailed`] for another version.
    pub async fn copy_node(
        &self,
        id: NodeId,
        version: Option<u64>,
        copy: &CopyNode,
    ) -> Result<Node, ApiError> {
        let copy = self.wire_copy(copy)?;
        let call = Call::new(Method::POST, format!("{NODES}/{id}/copy")).json(&copy)?;
        let call = match version {
            Some(version) => call.if_match(version)?,
            None => call,
        };
        self.json_with_names(self.with_idempotency_key(call)?).await
    }

    /// `POST /nodes/{id}/restore`: out of the trash, to where it was.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] if it is not in the trash.
    pub async fn restore_node(&self, id: NodeId) -> Result<Node, ApiError> {
        self.json_with_names(
            self.with_idempotency_key(Call::new(Method::POST, format!("{NODES}/{id}/restore")))?,
        )
        .await
    }

    /// Returns everything in the trash.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn trash(&self) -> Result<Vec<Node>, ApiError> {
        let query = ListNodes {
            state: Some(NodeState::Trashed),
            ..Default::default()
        };
        self.named_pages(NODES, &query).await
    }

    /// `DELETE /trash`: deletes for good what is in the trash.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn empty_trash(&self) -> Result<Emptied, ApiError> {
        self.json(Call::new(Method::DELETE, "/api/v1/trash").mark_idempotent())
            .await
    }

    /// `DELETE /trash/{id}`: deletes one node in the trash for good.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] if it is not in the trash.
    pub async fn purge_node(&self, id: NodeId) -> Result<(), ApiError> {
        let call = Call::new(Method::DELETE, format!("/api/v1/trash/{id}"));
        self.delete(call).await
    }

    /// `DELETE /trash/{id}`: deletes one node in the trash for good that has this version, and returns how many nodes
    /// went with it.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] or [`ApiError::Conflict`] if it is not in the trash, [`ApiError::PreconditionFailed`]
    /// for another version.
    pub async fn purge_seen(&self, id: NodeId, version: u64) -> Result<Emptied, ApiError> {
        let call = Call::new(Method::DELETE, format!("/api/v1/trash/{id}"));
        self.json(call.if_match(version)?).await
    }

    /// `GET /nodes/{id}/revisions`: all revisions, the newest first.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn revisions(&self, id: NodeId) -> Result<Vec<Revision>, ApiError> {
        self.all_pages(&format!("{NODES}/{id}/revisions"), &())
            .await
    }

    /// `POST /revisions/batch`: for up to 1,000 files the newest revision that each had at a time, and its present
    /// one; none for what is not there.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] of a server that has no such request; [`ApiError::Protocol`] for an answer about other
    /// files.
    pub async fn revisions_at(
        &self,
        nodes: &[NodeId],
        at: Timestamp,
    ) -> Result<Vec<FileRevisions>, ApiError> {
        let asked = RevisionsAt {
            nodes: nodes.to_vec(),
            at,
        };
        let call = Call::new(Method::POST, "/api/v1/revisions/batch").json(&asked)?;
        let found: FilesRevisions = self.json(call.mark_idempotent()).await?;
        let is_asked = found
            .files
            .iter()
            .map(|one| one.node_id)
            .eq(nodes.iter().copied());
        if is_asked {
            return Ok(found.files);
        }
        Err(ApiError::Protocol(
            "the server gave the revisions of other files than it was asked for".to_owned(),
        ))
    }

    /// `POST /nodes/{id}/revisions/{rev}/restore`: makes an old revision's content the newest.
    ///
    /// # Errors
    /// [`ApiError::NotFound`].
    pub async fn restore_revision(
        &self,
        id: NodeId,
        revision: RevisionId,
    ) -> Result<Node, ApiError> {
        let path = format!("{NODES}/{id}/revisions/{revision}/restore");
        self.json_with_names(self.with_idempotency_key(Call::new(Method::POST, path))?)
            .await
    }

    /// `GET /search`: nodes whose name contains the text (at least 2 characters). In a private space all names are
    /// fetched and looked through here.
    ///
    /// # Errors
    /// [`ApiError::Rejected`] for a shorter text.
    pub async fn search(&self, query: &str) -> Result<Vec<Node>, ApiError> {
        if self.is_private() {
            return self.search_here(query).await;
        }
        self.all_pages("/api/v1/search/", &[("query", query)]).await
    }

    async fn search_here(&self, query: &str) -> Result<Vec<Node>, ApiError> {
        let wanted = search_key(query);
        let (mut found, mut after) = (Vec::new(), None::<String>);
        let mut paging = Paging::default();
        loop {
            let page = self.snapshot(after.as_deref()).await?;
            paging.advance(page.nodes.len(), page.next.as_deref())?;
            let is_wanted = |node: &Node| search_key(&node.name).contains(&wanted);
            found.extend(page.nodes.into_iter().filter(is_wanted));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

/// Refuses the response to a batch that leaves elements out or adds some.
pub(crate) fn check_result_count(got: usize, asked: usize) -> Result<(), ApiError> {
    if got == asked {
        return Ok(());
    }
    Err(ApiError::Protocol(format!(
        "a batch of {asked} has {got} results"
    )))
}
