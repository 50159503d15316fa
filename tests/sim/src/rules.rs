//! Ignore rules that users write in a random run, shared ones and those of one device, and the paths that devices need
//! not have in common because of them.

use crate::device::{Device, path};
use crate::random::Seeded;
use crate::world::tree_of;
use std::collections::BTreeSet;

/// The file of the shared rules, which only [`work`] changes.
pub(crate) const FILE: &str = ".cairnignore";

/// Texts of the file: a name at any depth (`a`), an ending (`*.txt`) or a name at the top (`/b`) in each line. An empty
/// one removes the file.
const TEXTS: &[&str] = &["", "*.txt\n", "a\n", "/b\n", "c\n/d\n", "a\n*.txt\n"];

/// Lets the user of a device change the shared rules, as a line for the log; `None` if that is not possible.
pub(crate) fn work(device: &Device, random: &Seeded, is_noticed: bool) -> Option<String> {
    let text = random.pick(TEXTS)?;
    let file = path(FILE);
    let change = device
        .disk
        .user(&file, is_noticed, |files| match text.is_empty() {
            true => files.remove(&file).map(drop),
            false => files.write(&file, text.as_bytes()),
        });
    change.ok()?;
    Some(format!("{}: the rules are {text:?}", device.name))
}

/// Lets the user of a device choose what it leaves out of the folder, as a line for the log.
pub(crate) fn choose(device: &Device, random: &Seeded) -> Option<String> {
    let lines: Vec<String> = random.pick(TEXTS)?.lines().map(str::to_owned).collect();
    let line = format!("{}: leaves out {lines:?}", device.name);
    device.leave_out(lines);
    Some(line)
}

/// The rules of a device: the shared ones, and its own.
pub(crate) struct Rules(Vec<String>);

impl Rules {
    pub(crate) fn of(device: &Device) -> Self {
        let tree = tree_of(device);
        let text = tree.get(FILE).and_then(Option::as_deref);
        let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
        let shared = text.lines().map(str::to_owned);
        Self(shared.chain(device.left_out()).collect())
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
        self.0.iter().any(|rule| {
            let mut names = path.split('/');
            match (rule.strip_prefix('/'), rule.strip_prefix('*')) {
                (Some(top), _) => names.next() == Some(top),
                (None, Some(ending)) => names.any(|name| name.ends_with(ending)),
                (None, None) => names.any(|name| name == rule),
            }
        })
    }
}

/// Returns the paths that devices need not have in common: what one of them leaves out.
pub(crate) fn exempt(devices: &[Device]) -> BTreeSet<String> {
    let all: BTreeSet<String> = devices
        .iter()
        .flat_map(tree_of)
        .map(|(path, _)| path)
        .collect();
    let exempt = devices.iter().map(|device| Rules::of(device).exempt(&all));
    exempt.flatten().collect()
}
