//! Ignore rules that users write in a random run, shared ones and those of one device, and the paths that devices need
//! not have in common because of them.

use crate::device::{Device, ROOT};
use crate::random::Seeded;
use crate::truth;
use crate::world::{Tree, World, tree_of};
use std::collections::BTreeSet;
use std::path::Path;

/// The file of shared rules, for the folder that it lies in. Only [`work`] and [`work_below`] change it.
pub(crate) const FILE: &str = ".cairnignore";

/// Texts of the file: a name at any depth (`a`), an ending (`*.txt`) or a name at the top (`/b`) in each line. An empty
/// one removes the file.
const TEXTS: &[&str] = &["", "*.txt\n", "a\n", "/b\n", "c\n/d\n", "a\n*.txt\n"];

/// Lets the user of a device change the shared rules, as a line for the log; `None` if that is not possible.
pub(crate) fn work(device: &Device, random: &Seeded, is_noticed: bool) -> Option<String> {
    write(device, "", random, is_noticed)
}

/// Lets the user of a device change the shared rules of any folder, as a line for the log; `None` if that is not
/// possible.
pub(crate) fn work_below(device: &Device, random: &Seeded, is_noticed: bool) -> Option<String> {
    let tree = tree_of(device);
    let folders = tree.iter().filter(|(_, bytes)| bytes.is_none());
    let mut folders: Vec<&str> = folders.map(|(path, _)| path.as_str()).collect();
    folders.push("");
    write(device, random.pick(&folders)?, random, is_noticed)
}

fn write(device: &Device, folder: &str, random: &Seeded, is_noticed: bool) -> Option<String> {
    let text = random.pick(TEXTS)?;
    let file = Path::new(ROOT).join(folder).join(FILE);
    let change = device
        .disk
        .user(&file, is_noticed, |files| match text.is_empty() {
            true => files.remove(&file).map(drop),
            false => files.write(&file, text.as_bytes()),
        });
    change.ok()?;
    let above = match folder {
        "" => String::new(),
        folder => format!(" of {folder}"),
    };
    Some(format!("{}: the rules{above} are {text:?}", device.name))
}

/// Lets the user of a device choose what it leaves out of the folder, as a line for the log.
pub(crate) fn choose(device: &Device, random: &Seeded) -> Option<String> {
    let lines: Vec<String> = random.pick(TEXTS)?.lines().map(str::to_owned).collect();
    let line = format!("{}: leaves out {lines:?}", device.name);
    device.leave_out(lines);
    Some(line)
}

/// The rules of a device: the shared ones of each folder, and its own. Each has the folder that it is for in front,
/// which ends in `/` unless it is the top.
pub(crate) struct Rules(Vec<(String, String)>);

impl Rules {
    pub(crate) fn of(device: &Device) -> Self {
        let mut rules = Vec::new();
        for (path, bytes) in tree_of(device) {
            let Some(folder) = path.strip_suffix(FILE).filter(|f| is_prefix(f)) else {
                continue;
            };
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            rules.extend(
                text.lines()
                    .map(|line| (folder.to_owned(), line.to_owned())),
            );
        }
        let own = device.left_out().into_iter();
        rules.extend(own.map(|line| (String::new(), line)));
        Self(rules)
    }

    /// Returns the paths that the rules leave out, and the folders that hold any of them: such a folder may stay where
    /// it was deleted elsewhere.
    pub(crate) fn exempt<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a String>,
    ) -> BTreeSet<String> {
        let mut exempt = BTreeSet::new();
        for path in paths.into_iter().filter(|path| self.leave_out(path)) {
            let ends = path.match_indices('/').map(|(at, _)| at);
            exempt.extend(ends.map(|end| path[..end].to_owned()));
            exempt.insert(path.clone());
        }
        exempt
    }

    fn leave_out(&self, path: &str) -> bool {
        self.0.iter().any(|(folder, rule)| {
            let Some(below) = path.strip_prefix(&**folder) else {
                return false;
            };
            let mut names = below.split('/');
            match (rule.strip_prefix('/'), rule.strip_prefix('*')) {
                (Some(top), _) => names.next() == Some(top),
                (None, Some(ending)) => names.any(|name| name.ends_with(ending)),
                (None, None) => names.any(|name| name == rule),
            }
        })
    }
}

/// Returns whether a text can stand in front of a path in a folder.
fn is_prefix(folder: &str) -> bool {
    folder.is_empty() || folder.ends_with('/')
}

/// Adds the rules files of exempt folders that are not everywhere: they stay with their folders.
pub(crate) fn exempt_rules_files(
    exempt: &mut BTreeSet<String>,
    is_folder_everywhere: impl Fn(&str) -> bool,
) {
    let folders = exempt.iter().filter(|path| !is_folder_everywhere(path));
    let files: Vec<String> = folders.map(|path| format!("{path}/{FILE}")).collect();
    exempt.extend(files);
}

/// Returns what a device has and its rules leave out.
pub(crate) fn left_out(device: &Device) -> Tree {
    let mut tree = tree_of(device);
    let left_out = Rules::of(device).exempt(tree.keys());
    tree.retain(|path, _| left_out.contains(path));
    tree
}

/// Returns the paths that devices need not have in common: what one of them leaves out, of what they and the service
/// have. A folder may stay for something that is on the service alone.
pub(crate) async fn exempt(world: &World) -> Result<BTreeSet<String>, String> {
    let rules: Vec<Rules> = world.devices.iter().map(Rules::of).collect();
    if rules.iter().all(|rules| rules.0.is_empty()) {
        return Ok(BTreeSet::new());
    }
    let there = truth::paths_on_service(world).await?;
    let trees: Vec<Tree> = world.devices.iter().map(tree_of).collect();
    let mut all = there.clone();
    all.extend(trees.iter().flat_map(|tree| tree.keys().cloned()));
    let exempt = rules.iter().map(|rules| rules.exempt(&all));
    let mut exempt: BTreeSet<String> = exempt.flatten().collect();
    exempt_rules_files(&mut exempt, |path| {
        let is_folder = |tree: &Tree| tree.get(path) == Some(&None);
        there.contains(path) && trees.iter().all(is_folder)
    });
    Ok(exempt)
}
