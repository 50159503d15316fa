//! The synced folders of this machine, and what a path means in them.

use super::account::{self, Foreign};
use super::connection::{request, request_within};
use super::target::expand_home;
use crate::error::{ToolError, ToolResult};
use crate::local_paths::resolve_links;
use crate::quote::quote;
use crate::services::Services;
use cairn_control::{ControlError, FolderStatus, Status, typed};
use cairn_model::SpaceId;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The time limit for the synced folders where a tool can do without them: a daemon that hangs holds nothing else up.
const SHORT_WAIT: Duration = Duration::from_secs(3);

/// A file or folder of the service by its path in its space: `/a/b`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The space of a team; `None` for the account's own.
    pub(crate) space: Option<SpaceId>,
    pub(crate) path: String,
}

/// A path on this machine in a synced folder, and the place that it has on the service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LocalMeaning {
    pub(crate) local: PathBuf,
    pub(crate) place: Place,
    /// The name of the team that the folder is of.
    pub(crate) team: Option<String>,
}

/// The synced folders of this machine.
#[derive(Default)]
pub(crate) struct SyncedFolders {
    pub(super) folders: Vec<FolderStatus>,
    /// The reason why their files are not those of the account that the tools use.
    pub(super) foreign: Option<Foreign>,
    /// True if there may be others: the daemon does not run, or does not respond.
    pub(super) is_unknown: bool,
}

impl SyncedFolders {
    /// Reads the synced folders for a tool that can do without them; there are none while the daemon of this machine
    /// doesn't run, or doesn't respond.
    ///
    /// # Errors
    /// [`ToolError::Daemon`] for one that responds and doesn't tell them: which files a path can mean is not known then.
    pub(crate) async fn read(services: &Services) -> ToolResult<Self> {
        match request_within(services, typed::Status {}, SHORT_WAIT).await {
            Ok(status) => Ok(Self::of(status)),
            Err(ToolError::Daemon(ControlError::NotRunning | ControlError::Silent { .. })) => {
                Ok(Self {
                    is_unknown: services.daemon.is_some(),
                    ..Self::default()
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the synced folders of a daemon that runs.
    ///
    /// # Errors
    /// [`ToolError::Daemon`] if none runs or it does not respond.
    pub(super) async fn read_or_refuse(services: &Services) -> ToolResult<Self> {
        let status = request(services, typed::Status {}).await?;
        Ok(Self::of(status))
    }

    fn of(status: Status) -> Self {
        Self {
            folders: status.folders,
            foreign: None,
            is_unknown: false,
        }
    }

    /// Returns whether these are all synced folders of this machine.
    pub(crate) fn is_known(&self) -> bool {
        !self.is_unknown
    }

    /// Compares the account of the folders with that of the tools: a path may name a file of each.
    pub(crate) async fn compare_account(mut self, services: &Services) -> Self {
        if !self.folders.is_empty() {
            self.foreign = account::compare(services).await;
        }
        self
    }

    /// Returns what a path means on this machine. One that is not absolute may mean a file in several folders.
    pub(crate) fn meanings_of(&self, given: &str) -> Vec<LocalMeaning> {
        let wanted = expand_home(given);
        if wanted.is_absolute() {
            return self.meaning_of_absolute(&wanted).into_iter().collect();
        }
        let below = self
            .folders
            .iter()
            .map(|folder| Path::new(&folder.local).join(&wanted))
            .collect::<Vec<_>>();
        let there = below.iter().filter(|path| path.symlink_metadata().is_ok());
        let mut there: Vec<_> = there.collect();
        if there.is_empty()
            && let [only] = below.as_slice()
        {
            there.push(only);
        }
        let meanings = there
            .into_iter()
            .filter_map(|path| self.meaning_of_absolute(path));
        meanings.collect()
    }

    /// Returns what an absolute path means if it is in a synced folder.
    fn meaning_of_absolute(&self, wanted: &Path) -> Option<LocalMeaning> {
        // What is not there has a place all the same, below the part of its path that is.
        let resolved = resolve_links(wanted);
        let below = |folder: &FolderStatus| {
            let local = Path::new(&folder.local);
            // A path that climbs leads elsewhere than it reads: only its resolved form counts.
            let inside = |path: &Path| {
                let below = path.strip_prefix(local).ok()?;
                let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
                below
                    .components()
                    .all(is_plain)
                    .then(|| below.to_path_buf())
            };
            inside(wanted).or_else(|| inside(&resolved))
        };
        let in_folder = self
            .folders
            .iter()
            .filter_map(|folder| Some((folder, below(folder)?)))
            // The innermost folder is the one that syncs it.
            .max_by_key(|(folder, _)| folder.local.len());
        let (folder, below) = in_folder?;
        let parts = below.components().map(|part| part.as_os_str().to_str());
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let path = join_paths(&folder.remote, &parts.join("/"));
        Some(LocalMeaning {
            local: wanted.to_path_buf(),
            place: Place {
                space: space_of(folder),
                path,
            },
            team: folder.space.as_ref().map(|space| space.name.clone()),
        })
    }

    /// Returns the local paths of a place, one for each folder that syncs it.
    pub(crate) fn local_paths(&self, place: &Place) -> Vec<PathBuf> {
        if self.foreign.is_some() {
            return Vec::new();
        }
        local_paths(&self.folders, place.space, &place.path)
    }

    /// Returns the folders as a text for a message.
    pub(super) fn list_folders(&self) -> String {
        let folders: Vec<_> = self.folders.iter().map(|f| quote(&f.local)).collect();
        folders.join(", ")
    }
}

fn space_of(folder: &FolderStatus) -> Option<SpaceId> {
    folder.space.as_ref().map(|space| space.id)
}

/// Returns the local paths of a path in a space, one for each folder that syncs it.
pub(super) fn local_paths(
    folders: &[FolderStatus],
    space: Option<SpaceId>,
    remote: &str,
) -> Vec<PathBuf> {
    let local = |folder: &FolderStatus| {
        if space_of(folder) != space {
            return None;
        }
        let top = folder.remote.trim_end_matches('/');
        let below = remote.strip_prefix(top)?;
        let is_below = below.is_empty() || below.starts_with('/');
        is_below.then(|| Path::new(&folder.local).join(below.trim_start_matches('/')))
    };
    folders.iter().filter_map(local).collect()
}

pub(crate) fn join_paths(top: &str, below: &str) -> String {
    let parts = top.split('/').chain(below.split('/'));
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_control::TeamSpace;
    use cairn_model::TeamId;

    fn folder(local: &str, remote: &str) -> FolderStatus {
        FolderStatus {
            local: local.to_owned(),
            remote: remote.to_owned(),
            ..FolderStatus::default()
        }
    }

    fn places(folders: &[FolderStatus], given: &str) -> Vec<Place> {
        let folders = SyncedFolders {
            folders: folders.to_vec(),
            foreign: None,
            is_unknown: false,
        };
        let meanings = folders.meanings_of(given).into_iter();
        meanings.map(|meaning| meaning.place).collect()
    }

    fn own(path: &str) -> Vec<Place> {
        vec![Place {
            space: None,
            path: path.to_owned(),
        }]
    }

    /// A daemon that was halted holds no tool of the service up.
    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn a_daemon_that_hangs_is_not_waited_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let mut services = crate::test_services::services(crate::services::KeySource::Missing);
        services.daemon = Some(socket);
        let begin = tokio::time::Instant::now();
        let read = SyncedFolders::read(&services).await.unwrap();
        assert!(read.folders.is_empty() && !read.is_known());
        assert!(begin.elapsed() < Duration::from_secs(5));
        let refused = SyncedFolders::read_or_refuse(&services).await;
        let message = refused.err().unwrap().to_string();
        assert!(message.contains("the daemon does not respond"), "{message}");
    }

    #[test]
    fn local_paths_and_those_on_the_service_lead_to_each_other() {
        let folders = [folder("/x/Docs", "/job/docs"), folder("/x/All", "/")];
        for (given, remote) in [
            ("/x/Docs/a/b.txt", "/job/docs/a/b.txt"),
            ("/x/Docs/", "/job/docs"),
            ("/x/All/c", "/c"),
        ] {
            assert_eq!(places(&folders, given), own(remote), "{given}");
        }
        for elsewhere in ["/job/docs/a", "/", "somewhere/else"] {
            assert_eq!(places(&folders, elsewhere), [], "{elsewhere}");
        }
        let both = [
            PathBuf::from("/x/Docs/a"),
            PathBuf::from("/x/All/job/docs/a"),
        ];
        assert_eq!(local_paths(&folders, None, "/job/docs/a"), both);
        let one = [PathBuf::from("/x/All/job/docs2")];
        assert_eq!(local_paths(&folders, None, "/job/docs2"), one);
        let only = [folder("/x/Docs", "/job/docs")];
        assert_eq!(places(&only, "a/b.txt"), own("/job/docs/a/b.txt"));
    }

    #[test]
    fn a_folder_of_a_team_leads_to_its_space_alone() {
        let space = SpaceId::from_random_bytes([1; 16]);
        let of_team = FolderStatus {
            space: Some(TeamSpace {
                id: space,
                team: TeamId::from_random_bytes([2; 16]),
                name: "Crew".to_owned(),
            }),
            ..folder("/x/Crew", "/")
        };
        let folders = [folder("/x/All", "/"), of_team];
        let found = places(&folders, "/x/Crew/a");
        let in_team = Place {
            space: Some(space),
            path: "/a".to_owned(),
        };
        assert_eq!(found, [in_team]);
        let own = [PathBuf::from("/x/All/a")];
        assert_eq!(local_paths(&folders, None, "/a"), own);
        let team = [PathBuf::from("/x/Crew/a")];
        assert_eq!(local_paths(&folders, Some(space), "/a"), team);
    }

    #[test]
    fn a_path_that_climbs_is_found_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("Docs/sub")).unwrap();
        std::fs::create_dir_all(top.join("Other")).unwrap();
        std::fs::write(top.join("Docs/a"), "a").unwrap();
        let local = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let folders = [folder(&local("Docs"), "/docs")];
        let found = |given: &str| places(&folders, &local(given));
        assert_eq!(found("Docs/sub/../a"), own("/docs/a"));
        assert_eq!(found("Other/../Docs/a"), own("/docs/a"));
        assert_eq!(found("Docs/../Other"), []);
        assert_eq!(found("Docs/gone/../../Other"), []);
    }

    #[cfg(unix)]
    #[test]
    fn a_deleted_file_is_found_through_a_link_to_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("Docs/sub")).unwrap();
        std::os::unix::fs::symlink(top.join("Docs/sub"), top.join("link")).unwrap();
        let local = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let folders = [folder(&local("Docs"), "/docs")];
        assert_eq!(
            places(&folders, &local("link/deleted")),
            own("/docs/sub/deleted")
        );
    }
}
