//! The simulated disk as the engine sees it.

use super::faults::Call;
use super::handles::{Open, Temp};
use super::node::Node;
use super::state::{SimDisk, name_rules};
use cairn_engine::ports::{Hint, Watch, Watched};
use cairn_model::Name;
use cairn_platform::disk::TargetChanged;
use cairn_platform::{
    Disk, Entry, Expect, FileId, FileKind, NameProblem, ReadSeek, Stat, TempFile,
};
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

fn stat_of(node: &Node) -> Stat {
    Stat {
        kind: if node.children.is_some() {
            FileKind::Dir
        } else {
            FileKind::File
        },
        size: node.data.len() as u64,
        mtime_ns: node.mtime,
        modified_ms: node.mtime.div_euclid(1_000_000),
        ctime_ns: node.ctime,
        file_id: FileId {
            device: node.device,
            inode: node.inode,
        },
        birth_ns: node.birth,
        executable: node.executable,
        links: 1,
        mount: Some(node.mount),
    }
}

impl Disk for SimDisk {
    fn check_name(&self, name: &Name) -> Result<(), NameProblem> {
        name_rules(self.state().windows).check_name(name)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.serve(Call::Read, || {
            self.files(|files| {
                let node = files.get(dir)?;
                let children = node.children.as_ref().ok_or(io::ErrorKind::NotADirectory)?;
                Ok(children
                    .iter()
                    .map(|(name, node)| Entry {
                        name: name.into(),
                        stat: Ok(stat_of(node)),
                    })
                    .collect())
            })
        })
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.serve(Call::Read, || {
            let numbers_spellings = self.state().numbers_spellings;
            self.files(|files| {
                let mut stat = stat_of(files.get(path)?);
                if numbers_spellings && files.is_respelled(path) {
                    stat.file_id.inode += 1 << 40;
                }
                Ok(stat)
            })
        })
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.serve(Call::Read, || {
            if self.state().refused.contains(path) {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.look(|files| files.get(path).map(drop))?;
            self.state().reads += 1;
            self.files(|files| {
                let node = files.get(path)?;
                if node.children.is_some() {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
                let bytes = Cursor::new(node.data.to_vec());
                let open = Open {
                    bytes,
                    identity: (node.inode, node.birth),
                    path: path.to_owned(),
                    disk: self.clone(),
                };
                Ok(Box::new(open) as Box<dyn ReadSeek>)
            })
        })
    }

    fn create_temp(&self, dir: &Path, name: &str) -> io::Result<Box<dyn TempFile>> {
        self.serve(Call::Write, || {
            let path = dir.join(name);
            self.check_possible(&path)?;
            self.files(|files| {
                if files.get(dir).is_err() {
                    files.mkdir(dir)?;
                }
                match files.get(&path) {
                    Ok(_) => Ok(()),
                    Err(_) => files.write(&path, b""),
                }
            })?;
            let temp: Box<dyn TempFile> = Box::new(Temp {
                path,
                disk: self.clone(),
                at: 0,
            });
            Ok(temp)
        })
    }

    fn replace(&self, temp: &Path, target: &Path, expect: Expect) -> io::Result<Stat> {
        self.serve(Call::Write, || {
            self.check_writable(target)?;
            self.check_possible(target)?;
            self.files(|files| {
                let now = files.get(target).map(stat_of);
                let fits = match (&expect, &now) {
                    (Expect::Absent, Err(_)) => true,
                    (Expect::Same(key), Ok(stat)) => stat.key() == *key,
                    (Expect::Absent, Ok(_)) | (Expect::Same(_), Err(_)) => false,
                };
                if !fits {
                    return Err(TargetChanged::into_io(target));
                }
                match expect {
                    Expect::Absent => files.rename(temp, target)?,
                    Expect::Same(_) => {
                        let old = files.take(target)?;
                        files.rename(temp, target)?;
                        files.insert(temp, old)?;
                    }
                }
                files.get(target).map(stat_of)
            })
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.serve(Call::Write, || {
            self.interrupt(to)?;
            self.check_writable(from)?;
            self.check_writable(to)?;
            self.check_possible(to)?;
            self.files(|files| files.rename(from, to))
        })
    }

    fn mkdir(&self, path: &Path) -> io::Result<Stat> {
        self.serve(Call::Write, || {
            self.check_possible(path)?;
            self.files(|files| {
                files.mkdir(path)?;
                files.get(path).map(stat_of)
            })
        })
    }

    /// Directories have no modes here.
    fn make_writable(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.serve(Call::Write, || {
            self.files(
                |files| match files.get(path)?.children.as_ref().map(|c| c.is_empty()) {
                    Some(true) => files.remove(path).map(drop),
                    Some(false) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
                    None => Err(io::ErrorKind::NotADirectory.into()),
                },
            )
        })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.serve(Call::Write, || {
            self.files(|files| match files.get(path)?.children {
                None => files.remove(path).map(drop),
                Some(_) => Err(io::ErrorKind::IsADirectory.into()),
            })
        })
    }

    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<Stat> {
        self.serve(Call::Write, || {
            self.files(|files| {
                let now = files.tick();
                let node = files.get_mut(path)?;
                node.set_executable(executable, now);
                Ok(stat_of(node))
            })
        })
    }

    fn sync_dirs(&self, _dirs: &[PathBuf]) -> io::Result<()> {
        self.serve(Call::Write, || {
            self.flush();
            Ok(())
        })
    }

    fn sync_all(&self, _root: &Path) -> io::Result<()> {
        self.serve(Call::Write, || {
            self.flush();
            Ok(())
        })
    }

    fn free_space(&self, _path: &Path) -> io::Result<u64> {
        Ok(self.state().room.unwrap_or(u64::MAX))
    }
}

/// A watched folder.
struct SimWatched {
    disk: SimDisk,
    root: PathBuf,
}

impl Watched for SimWatched {
    fn flush(&self, number: u64) -> bool {
        let state = self.disk.state();
        let hints = state.watchers.get(&self.root);
        // A hint is sent by the change itself: those before have come, unless one was left out.
        !state.is_hint_missing && hints.is_some_and(|to| to.send(Hint::Flushed(number)).is_ok())
    }
}

impl Watch for SimDisk {
    fn watch(&self, root: &Path) -> (UnboundedReceiver<Hint>, Box<dyn Watched>) {
        let (sender, receiver) = unbounded_channel();
        let mut state = self.state();
        if state.blind {
            let message = "simulated: there are no watches left".to_owned();
            // Nobody listens any more: then nobody has to know.
            drop(sender.send(Hint::Lost { message }));
        } else {
            state.watchers.insert(root.to_owned(), sender);
            // Everything is scanned after it.
            state.is_hint_missing = false;
        }
        let (disk, root) = (self.clone(), root.to_owned());
        (receiver, Box::new(SimWatched { disk, root }))
    }
}
