//! Taking folders in: from the index, with their rules, watchers and remote folder.

use super::{Dispatcher, Folder, ROOT_RETRY, TOTALS_REST};
use crate::error::{Disposition, EngineError, explain};
use crate::facts::{folder_seal, remote_row};
use crate::gate::Flow;
use crate::observe::hash::local_stat;
use crate::observe::rules::Rules;
use crate::status::{FolderStatus, Problem, State};
use crate::trash;
use cairn_index::{FolderMode, FolderRow};
use cairn_model::{FolderId, Kind, NodeId, RelPath};
use cairn_platform::FileKind;
use cairn_wire::nodes::CreateNode;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::Instant;

impl Dispatcher {
    /// Reads the folder pairs again: new ones are taken in, removed ones dropped, changed ones looked
    /// at as a whole.
    pub(super) fn load_folders(&mut self) -> Result<(), EngineError> {
        let rows = self.shared.index.read(|db| db.folders())?;
        let ids: BTreeSet<FolderId> = rows.iter().map(|r| r.id).collect();
        self.folders.retain(|id, _| ids.contains(id));
        let all_paused = !rows.is_empty() && rows.iter().all(|r| r.settings.paused);
        let until = rows.iter().filter_map(|r| r.settings.paused_until).min();
        self.shared
            .set_paused(all_paused, until.filter(|_| all_paused));
        for row in rows {
            match self.folders.get_mut(&row.id) {
                Some(folder) if *folder.row == row => {}
                Some(folder) => {
                    let same_rules = folder.row.settings.exclude == row.settings.exclude
                        && folder.row.settings.only == row.settings.only;
                    if !same_rules {
                        folder.rules = Arc::new(Rules::load(
                            &*self.shared.ports.disk,
                            Path::new(&row.root),
                            &row.settings,
                        ));
                    }
                    folder.row = Arc::new(row);
                    folder.whole = true;
                    folder.plan_due = true;
                }
                None => {
                    let folder = self.take_in(row);
                    self.folders.insert(folder.row.id, folder);
                    // It is linked with the service's folder when the feed is asked: now, not when
                    // the stream has been silent for long.
                    self.remote_due = true;
                }
            }
        }
        Ok(())
    }

    fn take_in(&self, row: FolderRow) -> Folder {
        let root = Path::new(&row.root);
        let (mut hints, guard) = self.shared.ports.watch.watch(root);
        let sender = self.hint_sender.clone();
        let id = row.id;
        tokio::spawn(async move {
            while let Some(hint) = hints.recv().await {
                if sender.send((id, hint)).is_err() {
                    break;
                }
            }
        });
        if let Err(error) = trash::expire(
            &*self.shared.ports.disk,
            root,
            self.shared.ports.clock.now_ms(),
        ) {
            tracing::warn!(%error, "old things stay in the local trash for now");
        }
        let now = Instant::now();
        Folder {
            rules: Arc::new(Rules::load(&*self.shared.ports.disk, root, &row.settings)),
            row: Arc::new(row),
            _watch: guard,
            blind: None,
            whole: true,
            rules_hint: false,
            dirs: BTreeSet::new(),
            burst: None,
            missing: BTreeMap::new(),
            again: None,
            next_rescan: now + self.tuning.rescan_every,
            root_retry: None,
            unlinkable: false,
            plan_due: true,
            next_plan: now,
            queue: VecDeque::new(),
            in_flight: 0,
            waiting: 0,
            deletions: Flow::default(),
            pause: watch::Sender::new(false),
            totals_due: true,
            next_totals: now,
        }
    }

    /// Checks that the root is the directory that was linked; anything else halts the folder.
    pub(super) fn root_is_there(&mut self, id: FolderId) -> bool {
        let Some(folder) = self.folders.get_mut(&id) else {
            return false;
        };
        let root = Path::new(&folder.row.root);
        let there = match self.shared.ports.disk.stat(root) {
            Ok(stat) if stat.kind == FileKind::Dir => {
                let file = (stat.file_id.device, stat.file_id.inode);
                folder.row.root_file.is_none_or(|known| known == file)
            }
            Ok(_) | Err(_) => false,
        };
        let problem = (!there).then(|| {
            let error = EngineError::RootGone(root.to_owned());
            let (code, hint) = explain(&error);
            Problem {
                path: String::new(),
                code: code.into(),
                message: error.to_string(),
                hint: hint.into(),
            }
        });
        folder.root_retry = (!there).then(|| Instant::now() + ROOT_RETRY);
        self.shared.health().set_whole(id, problem);
        there
    }

    /// Links a pair with its remote folder. A pair that can't be linked says so and waits; all others
    /// go on.
    ///
    /// # Errors
    /// What keeps every pair from being linked.
    pub(super) async fn try_link(&mut self, id: FolderId) -> Result<(), EngineError> {
        let problem = match self.link(id).await {
            Ok(()) => None,
            Err(error) => match error.disposition() {
                Disposition::Park | Disposition::Replan => {
                    let (code, hint) = explain(&error);
                    Some(Problem {
                        path: String::new(),
                        code: code.into(),
                        message: error.to_string(),
                        hint: hint.into(),
                    })
                }
                Disposition::Retry | Disposition::Stop => return Err(error),
            },
        };
        if let Some(folder) = self.folders.get_mut(&id) {
            folder.unlinkable = problem.is_some();
        }
        self.shared.health().set_link(id, problem);
        Ok(())
    }

    /// Finds, or makes, the remote folder of a pair. Needs the remote tree.
    async fn link(&mut self, id: FolderId) -> Result<(), EngineError> {
        let Some(folder) = self.folders.get(&id) else {
            return Ok(());
        };
        if folder.row.remote_node.is_some() || !self.root_is_there(id) {
            return Ok(());
        }
        let Some(folder) = self.folders.get(&id) else {
            return Ok(());
        };
        let row = Arc::clone(&folder.row);
        let path = RelPath::parse(row.remote_path.trim_matches('/')).map_err(|why| {
            EngineError::Protocol(format!("the remote path {:?}: {why}", row.remote_path))
        })?;
        let mut at: Option<NodeId> = None;
        for name in path.names() {
            let known = self
                .shared
                .index
                .read(|db| db.remote_children_by_key(at, name))?;
            at = match known.first() {
                Some(found) if found.kind == Kind::Folder => Some(found.node),
                Some(_) => {
                    return Err(EngineError::RemoteIsFile(row.remote_path.clone()));
                }
                None => Some(self.make_remote(at, name.as_str()).await?),
            };
        }
        let stat = self.shared.ports.disk.stat(Path::new(&row.root))?;
        let file = local_stat(&stat);
        self.shared.index.write(|db| {
            db.link_folder(id, at, (file.device, file.inode))?;
            if let Some(row) = db.folder(id)? {
                db.mark_differing(&row)?;
            }
            Ok(())
        })?;
        let linked = self.shared.index.read(|db| db.folder(id))?;
        if let (Some(folder), Some(linked)) = (self.folders.get_mut(&id), linked) {
            folder.row = Arc::new(linked);
            folder.plan_due = true;
        }
        Ok(())
    }

    async fn make_remote(&self, parent: Option<NodeId>, name: &str) -> Result<NodeId, EngineError> {
        let id = NodeId::from_random_bytes(self.shared.ports.id());
        let seal = folder_seal(&self.shared.keys, id, parent, name);
        let folder = CreateNode {
            id: Some(id),
            parent_id: parent,
            kind: Kind::Folder,
            name: name.to_owned(),
            seal: Some(seal),
        };
        let node = self.shared.api.create_folder(&folder).await?;
        let (row, _) = remote_row(&self.shared.keys, &node)
            .map_err(|why| EngineError::Protocol(why.into()))?;
        self.shared
            .index
            .write(|db| db.put_remote(&db.folders()?, &row))?;
        Ok(row.node)
    }

    /// Writes the figures of all folders where the status finds them, and tells who listens.
    pub(super) fn update_board(&mut self) {
        let offline = self
            .shared
            .board()
            .trouble
            .as_ref()
            .map(|(state, _)| *state);
        let mut statuses = Vec::new();
        for (id, folder) in &mut self.folders {
            let began = Instant::now();
            if folder.totals_due && (folder.in_flight == 0 || folder.next_totals <= began) {
                folder.totals_due = false;
                let totals = self.shared.index.read(|db| db.local_totals(*id));
                let waits = self
                    .shared
                    .index
                    .read(|db| db.questions(*id))
                    .unwrap_or_default();
                let mut board = self.shared.board();
                let mut status = board
                    .folders
                    .iter()
                    .find(|f| f.id == id.0)
                    .cloned()
                    .unwrap_or_default();
                if let Ok((files, bytes)) = totals {
                    (status.files, status.bytes) = (files, bytes);
                }
                let of = |side| {
                    waits
                        .iter()
                        .find(|q| q.side == side && q.answer == cairn_index::Answer::Asked)
                        .map_or(0, |q| q.files)
                };
                status.waiting_local_deletions = of(cairn_index::Side::Local);
                status.waiting_remote_deletions = of(cairn_index::Side::Remote);
                status.id = id.0;
                board.folders.retain(|f| f.id != id.0);
                board.folders.push(status);
                folder.next_totals = Instant::now() + began.elapsed() * TOTALS_REST;
            }
            let known = self
                .shared
                .board()
                .folders
                .iter()
                .find(|f| f.id == id.0)
                .cloned()
                .unwrap_or_default();
            let paused = {
                let now = self.shared.ports.clock.now_ms();
                let settings = &folder.row.settings;
                settings.paused && settings.paused_until.is_none_or(|until| until > now)
            };
            let pending = folder
                .queue
                .iter()
                .map(crate::executor::Work::len)
                .sum::<u64>()
                + folder.in_flight
                + folder.waiting;
            let busy = pending > 0
                || folder.plan_due
                || folder.again.is_some()
                || folder.deletions.quiet_at().is_some()
                || folder.burst.is_some()
                || folder.whole;
            statuses.push(FolderStatus {
                id: id.0,
                local: folder.row.root.clone(),
                remote: folder.row.remote_path.clone(),
                mode: match folder.row.settings.mode {
                    FolderMode::TwoWay => "two-way",
                    FolderMode::Upload => "upload",
                    FolderMode::Download => "download",
                }
                .into(),
                state: if paused {
                    State::Paused
                } else if folder.root_retry.is_some() || folder.unlinkable {
                    State::Error
                } else if let Some(state) = offline {
                    state
                } else if busy {
                    State::Syncing
                } else {
                    State::Idle
                },
                pending,
                errors: Vec::new(),
                ..known
            });
        }
        let busy = !self.jobs.is_empty() || self.remote_due;
        let mut board = self.shared.board();
        let changed = board.folders != statuses || board.busy != busy;
        board.folders = statuses;
        board.busy = busy;
        drop(board);
        if changed {
            self.shared.changed();
        }
    }
}
