//! The simulated disk as the engine sees it.

use super::files::{Files, Node};
use cairn_engine::ports::{Hint, Watch};
use cairn_model::Name;
use cairn_platform::disk::TargetChanged;
use cairn_platform::{
    Disk, Entry, Expect, FileId, FileKind, NameProblem, NameRules, ReadSeek, Stat, TempFile,
};
use std::collections::BTreeSet;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

#[derive(Default)]
struct State {
    now: Files,
    durable: Files,
    watcher: Option<UnboundedSender<Hint>>,
    /// A deed of the user, to be done just before a file or folder is renamed to a path that contains
    /// this text.
    before_rename: Option<(String, Deed)>,
    /// Files that can't be opened, and directories whose entries stay as they are.
    refused: BTreeSet<PathBuf>,
    /// Watching fails from its beginning.
    blind: bool,
    /// The disk has the rules of Windows for names.
    windows: bool,
    /// The power never goes: nothing has to be remembered for it.
    powered: bool,
    /// Calls that looked at files or changed them.
    calls: u64,
    /// The number of times that something was made durable for the engine.
    flushes: usize,
    /// The number of files that the engine has opened.
    reads: usize,
    /// Free bytes; unlimited if none.
    room: Option<u64>,
}

impl State {
    /// Remembers everything as it is for the time after the power has gone.
    fn flush(&mut self) {
        self.flushes += 1;
        if !self.powered {
            self.durable = self.now.clone();
        }
    }
}

/// Something that a user does.
pub type Deed = Box<dyn FnOnce(&mut Files) -> io::Result<()> + Send>;

/// A disk; clones share it.
#[derive(Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files<T>(&self, f: impl FnOnce(&mut Files) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        state.calls += 1;
        f(&mut state.now)
    }

    /// Something that the user does: it is durable, and the watcher says so (or does not).
    ///
    /// # Errors
    /// As the file system gives them.
    pub fn user<T>(
        &self,
        path: &Path,
        noticed: bool,
        f: impl FnOnce(&mut Files) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        let out = f(&mut state.now)?;
        state.flush();
        if noticed && let Some(watcher) = &state.watcher {
            // A watcher without a listener is fine.
            drop(watcher.send(Hint::Path(path.to_owned())));
        }
        Ok(out)
    }

    /// Lets the user do something in the instant before the engine renames anything to a path that
    /// contains `text`.
    pub fn before_rename(&self, text: &str, deed: Deed) {
        self.state().before_rename = Some((text.to_owned(), deed));
    }

    /// Lets a file be opened, or something be moved to a directory or out of it, no more, or again.
    pub fn refuse(&self, path: &Path, refuse: bool) {
        let mut state = self.state();
        if refuse {
            state.refused.insert(path.to_owned());
        } else {
            state.refused.remove(path);
        }
    }

    /// Refuses a path in a directory that takes nothing.
    fn check_writable(&self, path: &Path) -> io::Result<()> {
        let refused = &self.state().refused;
        match path.parent() {
            Some(dir) if refused.contains(dir) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Gives the disk the rules of Windows for names.
    pub fn refuse_names_of_windows(&self) {
        self.state().windows = true;
    }

    /// Lets new files have no birth time, as on FAT.
    pub fn keep_no_births(&self) {
        self.state().now.keep_no_births();
    }

    /// Lets the disk say that it has so many bytes free, or as many as anybody wants.
    pub fn set_room(&self, room: Option<u64>) {
        self.state().room = room;
    }

    /// Lets watching fail as soon as it is begun, or work again when it is begun next.
    pub fn blind(&self, blind: bool) {
        let mut state = self.state();
        state.blind = blind;
        if blind {
            state.watcher = None;
        }
    }

    /// Does what was to be done before a rename to this path.
    fn interrupt(&self, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        match state.before_rename.take() {
            Some((text, deed)) if to.to_string_lossy().contains(&text) => {
                deed(&mut state.now)?;
                state.flush();
            }
            other => state.before_rename = other,
        }
        Ok(())
    }

    /// Reads the files.
    pub fn look<T>(&self, f: impl FnOnce(&Files) -> T) -> T {
        f(&self.state().now)
    }

    /// The power goes: what was not flushed was never there.
    ///
    /// # Panics
    /// If the disk was promised never to crash.
    pub fn crash(&self) {
        let mut state = self.state();
        assert!(!state.powered, "nothing was remembered for this");
        state.now = state.durable.clone();
        // Times go on.
        for _ in 0..1000 {
            state.now.tick();
        }
        state.watcher = None;
    }

    /// Returns how often the engine has waited for the medium.
    #[must_use]
    pub fn flushes(&self) -> usize {
        self.state().flushes
    }

    /// Returns how many files the engine has opened for reading.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.state().reads
    }

    fn flush(&self) {
        self.state().flush();
    }

    /// Promises that the power never goes: with many files, remembering what was flushed takes long.
    pub fn never_crashes(&self) {
        self.state().powered = true;
    }

    /// Returns the number of calls of the engine that looked at files or changed them.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }
}

fn stat_of(node: &Node) -> Stat {
    Stat {
        kind: if node.children.is_some() {
            FileKind::Dir
        } else {
            FileKind::File
        },
        size: node.data.len() as u64,
        mtime_ns: node.mtime,
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

struct Open {
    bytes: Cursor<Vec<u8>>,
    identity: (u64, Option<i64>),
    path: PathBuf,
    disk: SimDisk,
}

impl Read for Open {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(out)
    }
}

impl Seek for Open {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl ReadSeek for Open {
    fn stat(&self) -> io::Result<Stat> {
        let stat = self.disk.stat(&self.path)?;
        if (stat.file_id.inode, stat.birth_ns) == self.identity {
            Ok(stat)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

struct Temp {
    path: PathBuf,
    disk: SimDisk,
    at: u64,
}

impl Temp {
    fn change(&mut self, f: impl FnOnce(&mut Node, i64)) -> io::Result<()> {
        let path = self.path.clone();
        self.disk.files(|files| {
            let now = files.tick();
            f(files.get_mut(&path)?, now);
            Ok(())
        })
    }
}

impl Read for Temp {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let data = self
            .disk
            .files(|files| Ok(Arc::clone(&files.get(&self.path)?.data)))?;
        let from = usize::try_from(self.at)
            .unwrap_or(usize::MAX)
            .min(data.len());
        let n = out.len().min(data.len() - from);
        out[..n].copy_from_slice(&data[from..from + n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Write for Temp {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        self.change(|node, now| {
            let data = Arc::make_mut(&mut node.data);
            data.resize(data.len().max(at + bytes.len()), 0);
            data[at..at + bytes.len()].copy_from_slice(bytes);
            (node.mtime, node.ctime) = (now, now);
        })?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Temp {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let size = self.stat()?.size;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl TempFile for Temp {
    fn path(&self) -> &Path {
        &self.path
    }

    fn stat(&self) -> io::Result<Stat> {
        self.disk.stat(&self.path)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.change(|node, now| {
            Arc::make_mut(&mut node.data).resize(usize::try_from(len).unwrap_or(0), 0);
            (node.mtime, node.ctime) = (now, now);
        })
    }

    fn set_modified(&mut self, ms: i64) -> io::Result<()> {
        self.change(|node, now| (node.mtime, node.ctime) = (ms * 1_000_000, now))
    }

    fn set_executable(&mut self, executable: bool) -> io::Result<()> {
        self.change(|node, now| (node.executable, node.ctime) = (executable, now))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.flush();
        Ok(())
    }
}

impl Disk for SimDisk {
    fn check_name(&self, name: &Name) -> Result<(), NameProblem> {
        let rules = NameRules {
            windows: self.state().windows,
            ignores_case: false,
            ignores_normal_form: false,
        };
        rules.check_name(name)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
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
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.files(|files| files.get(path).map(stat_of))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
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
    }

    fn create_temp(&self, dir: &Path, name: &str) -> io::Result<Box<dyn TempFile>> {
        let path = dir.join(name);
        self.files(|files| {
            if files.get(dir).is_err() {
                files.mkdir(dir)?;
            }
            match files.get(&path) {
                Ok(_) => Ok(()),
                Err(_) => files.write(&path, b""),
            }
        })?;
        Ok(Box::new(Temp {
            path,
            disk: self.clone(),
            at: 0,
        }))
    }

    fn replace(&self, temp: &Path, target: &Path, expect: Expect) -> io::Result<Stat> {
        self.check_writable(target)?;
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
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.interrupt(to)?;
        self.check_writable(from)?;
        self.check_writable(to)?;
        self.files(|files| files.rename(from, to))
    }

    fn mkdir(&self, path: &Path) -> io::Result<Stat> {
        self.files(|files| {
            files.mkdir(path)?;
            files.get(path).map(stat_of)
        })
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.files(
            |files| match files.get(path)?.children.as_ref().map(|c| c.is_empty()) {
                Some(true) => files.remove(path).map(drop),
                Some(false) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
                None => Err(io::ErrorKind::NotADirectory.into()),
            },
        )
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.files(|files| match files.get(path)?.children {
            None => files.remove(path).map(drop),
            Some(_) => Err(io::ErrorKind::IsADirectory.into()),
        })
    }

    fn set_executable(&self, path: &Path, executable: bool) -> io::Result<Stat> {
        self.files(|files| {
            let now = files.tick();
            let node = files.get_mut(path)?;
            (node.executable, node.ctime) = (executable, now);
            Ok(stat_of(node))
        })
    }

    fn sync_dirs(&self, _dirs: &[PathBuf]) -> io::Result<()> {
        self.flush();
        Ok(())
    }

    fn sync_all(&self, _root: &Path) -> io::Result<()> {
        self.flush();
        Ok(())
    }

    fn free_space(&self, _path: &Path) -> io::Result<u64> {
        Ok(self.state().room.unwrap_or(u64::MAX))
    }
}

impl Watch for SimDisk {
    fn watch(&self, _root: &Path) -> (UnboundedReceiver<Hint>, Box<dyn Send + Sync>) {
        let (sender, receiver) = unbounded_channel();
        let mut state = self.state();
        if state.blind {
            let message = "simulated: there are no watches left".to_owned();
            // Nobody listens any more: then nobody has to know.
            drop(sender.send(Hint::Lost { message }));
        } else {
            state.watcher = Some(sender);
        }
        (receiver, Box::new(()))
    }
}
