//! Random actions of users on the files of a device.

use crate::device::{Device, ROOT};
use crate::disk::{Files, SimDisk};
use crate::oracle::{Oracle, label};
use crate::random::Seeded;
use crate::rules;
use crate::world::{Tree, World};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Few names, so that devices meet.
pub(crate) const NAMES: &[&str] = &["a", "b", "c", "d", "e.txt"];

/// A device with what a user sees of it.
struct UserView<'a> {
    device: &'a str,
    disk: &'a SimDisk,
    random: &'a Seeded,
    tree: Tree,
    /// The names that files get.
    names: &'static [&'static str],
    is_noticed: bool,
}

/// One kind of action; returns its line for the log, `None` if there was nothing to do it to.
type Action = fn(&UserView<'_>, &Oracle) -> Option<String>;

/// All actions, each as often as it is done in comparison with the others.
const ACTIONS: &[Action] = &[
    create,
    create,
    create,
    create_large,
    edit,
    save,
    append,
    touch,
    set_executable,
    remove,
    make_folder,
    rename,
    rename,
    replace,
    swap,
    copy,
];

/// One action of a user, as a line for the log; `None` if there was nothing to do it to. Without `is_noticed` the
/// watcher misses it, and a later look finds it.
pub(crate) fn work(world: &World, at: usize, is_noticed: bool, oracle: &Oracle) -> Option<String> {
    let device = &world.devices[at];
    let by = (&*device.name, &device.disk);
    work_on(by, (&world.random, world.names), is_noticed, oracle)
}

/// The same on the disk of the device with a name.
fn work_on(
    (device, disk): (&str, &SimDisk),
    (random, names): (&Seeded, &'static [&'static str]),
    is_noticed: bool,
    oracle: &Oracle,
) -> Option<String> {
    let view = UserView {
        device,
        disk,
        random,
        tree: without_rules(disk.look(|files| files.listing(Path::new(ROOT)))),
        names,
        is_noticed,
    };
    let action = view.random.pick(ACTIONS)?;
    let done = action(&view, oracle)?;
    Some(format!("{device}: {done}"))
}

/// Leaves out the rules files, which only the module `rules` changes.
pub(crate) fn without_rules(mut tree: Tree) -> Tree {
    tree.retain(|path, _| Path::new(path).file_name() != Some(rules::FILE.as_ref()));
    tree
}

/// Lets the user of a device work between any two calls of its engine to the disk, about once in `n` calls. Lines for
/// the log go to `events`.
pub(crate) fn interfere(
    device: &Device,
    n: usize,
    (random, names): (&Seeded, &'static [&'static str]),
    oracle: &Oracle,
    events: &Arc<Mutex<Vec<String>>>,
) {
    let (name, disk, oracle) = (device.name.clone(), device.disk.clone(), oracle.clone());
    let (random, events) = (random.clone(), Arc::clone(events));
    let turns = random.clone();
    device.disk.interfere(move || {
        if turns.one_in(n) {
            let done = work_on((&name, &disk), (&random, names), true, &oracle);
            let done = done.map(|done| format!("{done}, meanwhile"));
            events
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(done);
        }
    });
}

impl UserView<'_> {
    fn any(&self) -> Option<PathBuf> {
        let paths: Vec<&String> = self.tree.keys().collect();
        Some(Path::new(ROOT).join(self.random.pick(&paths)?))
    }

    fn any_file(&self) -> Option<PathBuf> {
        let files: Vec<&String> = self
            .tree
            .iter()
            .filter_map(|(path, bytes)| bytes.is_some().then_some(path))
            .collect();
        Some(Path::new(ROOT).join(self.random.pick(&files)?))
    }

    /// Returns a path in one of the folders; something may be there.
    fn any_place(&self) -> Option<PathBuf> {
        let folders = self.tree.iter().filter(|(_, bytes)| bytes.is_none());
        let mut folders: Vec<&str> = folders.map(|(path, _)| path.as_str()).collect();
        folders.push("");
        let folder = self.random.pick(&folders)?;
        Some(
            Path::new(ROOT)
                .join(folder)
                .join(self.random.pick(self.names)?),
        )
    }

    fn free_place(&self) -> Option<PathBuf> {
        let path = self.any_place()?;
        let is_free = self.disk.look(|files| files.get(&path).is_err());
        is_free.then_some(path)
    }

    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.disk
            .look(|files| files.get(path).map(|node| node.data.to_vec()))
            .ok()
    }

    fn change<T>(
        &self,
        path: &Path,
        change: impl FnOnce(&mut Files) -> io::Result<T>,
    ) -> Option<T> {
        self.disk.user(path, self.is_noticed, change).ok()
    }

    /// Puts away the contents of everything at a path.
    fn put_away(&self, path: &Path, oracle: &Oracle) {
        let below = self.disk.look(|files| files.listing(path));
        for content in below.into_values().flatten().chain(self.bytes(path)) {
            oracle.put_away(&content, self.device);
        }
    }
}

fn create(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let path = view.free_place()?;
    let content = oracle.write(view.device);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!("create {} = {}", path.display(), label(&content)))
}

/// Too large to travel with others.
fn create_large(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let path = view.free_place()?;
    let content = oracle.write_large(view.device);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!(
        "create {} = {}, large",
        path.display(),
        label(&content)
    ))
}

fn edit(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let path = view.any_file()?;
    oracle.put_away(&view.bytes(&path)?, view.device);
    let content = oracle.write(view.device);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!("edit {} = {}", path.display(), label(&content)))
}

/// Saves like an editor: a new file takes the name.
fn save(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let path = view.any_file()?;
    oracle.put_away(&view.bytes(&path)?, view.device);
    let content = oracle.write(view.device);
    view.change(&path, |files| {
        files.remove(&path)?;
        files.write(&path, &content)
    })?;
    Some(format!("save {} = {}", path.display(), label(&content)))
}

/// In two writes: the engine may come in between.
fn append(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let path = view.any_file()?;
    let old = view.bytes(&path)?;
    let half = [&old[..], b" and"].concat();
    view.change(&path, |files| files.write(&path, &half))?;
    oracle.put_away(&old, view.device);
    let content = oracle.write(view.device);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!("append {} = {}", path.display(), label(&content)))
}

fn touch(view: &UserView<'_>, _oracle: &Oracle) -> Option<String> {
    let path = view.any_file()?;
    let bytes = view.bytes(&path)?;
    view.change(&path, |files| files.write(&path, &bytes))?;
    Some(format!("touch {}", path.display()))
}

fn set_executable(view: &UserView<'_>, _oracle: &Oracle) -> Option<String> {
    let path = view.any_file()?;
    let before = view.disk.look(|files| files.get(&path).ok()?.executable)?;
    view.change(&path, |files| {
        let now = files.tick();
        files.get_mut(&path)?.set_executable(!before, now);
        Ok(())
    })?;
    Some(format!("executable {} = {}", path.display(), !before))
}

fn remove(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let path = view.any()?;
    view.put_away(&path, oracle);
    view.change(&path, |files| files.remove(&path))?;
    Some(format!("remove {}", path.display()))
}

fn make_folder(view: &UserView<'_>, _oracle: &Oracle) -> Option<String> {
    let path = view.free_place()?;
    view.change(&path, |files| files.mkdir(&path))?;
    Some(format!("mkdir {}", path.display()))
}

fn rename(view: &UserView<'_>, _oracle: &Oracle) -> Option<String> {
    let (from, to) = (view.any()?, view.free_place()?);
    view.change(&from, |files| files.rename(&from, &to))?;
    view.change(&to, |_| Ok(()));
    Some(format!("move {} {}", from.display(), to.display()))
}

/// Moves a file over another one.
fn replace(view: &UserView<'_>, oracle: &Oracle) -> Option<String> {
    let (from, to) = (view.any_file()?, view.any_file()?);
    if from == to {
        return None;
    }
    view.put_away(&to, oracle);
    view.change(&from, |files| {
        files.remove(&to)?;
        files.rename(&from, &to)
    })?;
    view.change(&to, |_| Ok(()));
    Some(format!("move {} over {}", from.display(), to.display()))
}

/// Two files or folders take each other's names.
fn swap(view: &UserView<'_>, _oracle: &Oracle) -> Option<String> {
    let (one, other) = (view.any()?, view.any()?);
    if one.starts_with(&other) || other.starts_with(&one) {
        return None;
    }
    let between = one.with_file_name("between");
    view.change(&one, |files| {
        files.rename(&one, &between)?;
        files.rename(&other, &one)?;
        files.rename(&between, &other)
    })?;
    view.change(&other, |_| Ok(()));
    Some(format!("swap {} {}", one.display(), other.display()))
}

fn copy(view: &UserView<'_>, _oracle: &Oracle) -> Option<String> {
    let (from, to) = (view.any_file()?, view.free_place()?);
    let bytes = view.bytes(&from)?;
    view.change(&to, |files| files.write(&to, &bytes))?;
    Some(format!("copy {} {}", from.display(), to.display()))
}
