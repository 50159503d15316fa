//! Random actions of users on the files of a device.

use crate::device::{Device, ROOT};
use crate::disk::Files;
use crate::oracle::{Oracle, label};
use crate::random::Seeded;
use crate::world::{World, tree_of};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Few names, so that devices meet.
pub(crate) const NAMES: &[&str] = &["a", "b", "c", "d", "e.txt"];

/// A device with what a user sees of it.
struct UserView<'a> {
    device: &'a Device,
    random: &'a Seeded,
    tree: BTreeMap<String, Option<Vec<u8>>>,
    /// Some changes are not noticed by the watcher; a later look finds them.
    noticed: bool,
}

/// One kind of action; returns its line for the log, `None` if there was nothing to do it to.
type Action = fn(&UserView<'_>, &mut Oracle) -> Option<String>;

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
    copy,
];

/// One action of a user, as a line for the log; `None` if there was nothing to do it to.
pub(crate) fn work(world: &World, at: usize, oracle: &mut Oracle) -> Option<String> {
    let device = &world.devices[at];
    let view = UserView {
        device,
        random: &world.random,
        tree: tree_of(device),
        noticed: !world.random.one_in(5),
    };
    let action = view.random.pick(ACTIONS)?;
    let done = action(&view, oracle)?;
    Some(format!("{}: {done}", device.name))
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
        Some(Path::new(ROOT).join(folder).join(self.random.pick(NAMES)?))
    }

    fn free_place(&self) -> Option<PathBuf> {
        let path = self.any_place()?;
        let is_free = self.device.disk.look(|files| files.get(&path).is_err());
        is_free.then_some(path)
    }

    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let disk = &self.device.disk;
        disk.look(|files| files.get(path).map(|node| node.data.to_vec()))
            .ok()
    }

    fn change<T>(
        &self,
        path: &Path,
        change: impl FnOnce(&mut Files) -> io::Result<T>,
    ) -> Option<T> {
        self.device.disk.user(path, self.noticed, change).ok()
    }

    /// Puts away the contents of everything at a path.
    fn put_away(&self, path: &Path, oracle: &mut Oracle) {
        let below = self.device.disk.look(|files| files.listing(path));
        for content in below.into_values().flatten().chain(self.bytes(path)) {
            oracle.put_away(&content);
        }
    }
}

fn create(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
    let path = view.free_place()?;
    let content = oracle.write(&view.device.name);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!("create {} = {}", path.display(), label(&content)))
}

/// Too large to travel with others.
fn create_large(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
    let path = view.free_place()?;
    let content = oracle.write_large(&view.device.name);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!(
        "create {} = {}, large",
        path.display(),
        label(&content)
    ))
}

fn edit(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
    let path = view.any_file()?;
    oracle.put_away(&view.bytes(&path)?);
    let content = oracle.write(&view.device.name);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!("edit {} = {}", path.display(), label(&content)))
}

/// Saves like an editor: a new file takes the name.
fn save(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
    let path = view.any_file()?;
    oracle.put_away(&view.bytes(&path)?);
    let content = oracle.write(&view.device.name);
    view.change(&path, |files| {
        files.remove(&path)?;
        files.write(&path, &content)
    })?;
    Some(format!("save {} = {}", path.display(), label(&content)))
}

/// In two writes: the engine may come in between.
fn append(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
    let path = view.any_file()?;
    let old = view.bytes(&path)?;
    let half = [&old[..], b" and"].concat();
    view.change(&path, |files| files.write(&path, &half))?;
    oracle.put_away(&old);
    let content = oracle.write(&view.device.name);
    view.change(&path, |files| files.write(&path, &content))?;
    Some(format!("append {} = {}", path.display(), label(&content)))
}

fn touch(view: &UserView<'_>, _oracle: &mut Oracle) -> Option<String> {
    let path = view.any_file()?;
    let bytes = view.bytes(&path)?;
    view.change(&path, |files| files.write(&path, &bytes))?;
    Some(format!("touch {}", path.display()))
}

fn set_executable(view: &UserView<'_>, _oracle: &mut Oracle) -> Option<String> {
    let path = view.any_file()?;
    let before = view
        .device
        .disk
        .look(|files| files.get(&path).ok()?.executable)?;
    view.change(&path, |files| {
        let now = files.tick();
        files.get_mut(&path)?.set_executable(!before, now);
        Ok(())
    })?;
    Some(format!("executable {} = {}", path.display(), !before))
}

fn remove(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
    let path = view.any()?;
    view.put_away(&path, oracle);
    view.change(&path, |files| files.remove(&path))?;
    Some(format!("remove {}", path.display()))
}

fn make_folder(view: &UserView<'_>, _oracle: &mut Oracle) -> Option<String> {
    let path = view.free_place()?;
    view.change(&path, |files| files.mkdir(&path))?;
    Some(format!("mkdir {}", path.display()))
}

fn rename(view: &UserView<'_>, _oracle: &mut Oracle) -> Option<String> {
    let (from, to) = (view.any()?, view.free_place()?);
    view.change(&from, |files| files.rename(&from, &to))?;
    view.change(&to, |_| Ok(()));
    Some(format!("move {} {}", from.display(), to.display()))
}

/// Moves a file over another one.
fn replace(view: &UserView<'_>, oracle: &mut Oracle) -> Option<String> {
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

fn copy(view: &UserView<'_>, _oracle: &mut Oracle) -> Option<String> {
    let (from, to) = (view.any_file()?, view.free_place()?);
    let bytes = view.bytes(&from)?;
    view.change(&to, |files| files.write(&to, &bytes))?;
    Some(format!("copy {} {}", from.display(), to.display()))
}
