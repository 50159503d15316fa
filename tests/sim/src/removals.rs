//! Removals of many files at once in a random run, which a deletion gate asks about.

use crate::device::ROOT;
use crate::run_options::RunOptions;
use crate::world::{Tree, World, tree_of};
use crate::{actions, checks, truth};
use cairn_model::DeletionDecision;
use std::path::Path;

/// Gives the devices, which run, files to remove: few of those that random actions make are in sync for long.
///
/// # Errors
/// Returns what does not come to rest.
pub(crate) async fn begin(world: &mut World) -> Result<(), String> {
    let device = &world.devices[0];
    for folder in ["", "a/", "b/", "b/a/"] {
        for name in ["c", "d", "e.txt"] {
            let content = world.persons.oracle.write(&device.name);
            device.write(&format!("{folder}{name}"), &content);
        }
    }
    world.settle().await
}

/// Lets the user of a device remove a part of everything, as a line for the log; `None` if there is nothing. Without
/// `is_noticed` the watcher misses it, and a later look finds it.
pub(crate) fn work(world: &World, at: usize, is_noticed: bool) -> Option<String> {
    let removed = remove_part(world, at, is_noticed);
    let paths: Vec<&String> = removed.keys().collect();
    let line = format!("{}: remove {paths:?}", world.devices[at].name);
    (!paths.is_empty()).then_some(line)
}

/// Lets the user of one device of equal ones remove a part of everything, while that of another one may edit a file
/// of it, and everybody decide the same. All that is kept has to be there in the end, and no more where they delete.
///
/// # Errors
/// Returns what is wrong in the end.
pub(crate) async fn remove_and_decide(
    world: &mut World,
    options: RunOptions,
) -> Result<(), String> {
    let random = world.random.clone();
    let remover = random.below(world.devices.len());
    let editor = (remover + 1) % world.devices.len();
    let before = tree_of(&world.devices[remover]);
    if random.one_in(3) {
        world.devices[editor].kill(false).await;
    }
    let removed = remove_part(world, remover, true);
    let edited = match random.one_in(2) {
        true => edit_one(world, editor, &removed),
        false => None,
    };
    let decision = match random.one_in(2) {
        true => DeletionDecision::Delete,
        false => DeletionDecision::Keep,
    };
    world.persons.only = Some(decision);
    world.persons.events.push(format!(
        "{} removes {:?}, {} edits {:?}, all say {decision:?}",
        world.devices[remover].name,
        removed.keys(),
        world.devices[editor].name,
        edited.as_ref().map(|(path, _)| path),
    ));
    world.settle().await?;
    let mut most = before;
    if decision == DeletionDecision::Delete {
        most.retain(|path, _| {
            let holds_edit = edited
                .as_ref()
                .is_some_and(|(e, _)| Path::new(e).starts_with(path));
            holds_edit || !removed.contains_key(path)
        });
    }
    most.extend(edited.map(|(path, bytes)| (path, Some(bytes))));
    for device in &world.devices {
        let tree = tree_of(device);
        // Too few to be asked about are removed whatever they say.
        let fits = match decision {
            DeletionDecision::Keep => tree.iter().all(|(path, b)| most.get(path) == Some(b)),
            DeletionDecision::Delete | DeletionDecision::Overwrite => tree == most,
        };
        if !fits {
            let (there, most) = (checks::described(&tree), checks::described(&most));
            return Err(format!(
                "{} has {there:#?} instead of {most:#?}",
                device.name
            ));
        }
    }
    let on_service = truth::paths_on_service(world).await?;
    if !on_service.iter().eq(tree_of(&world.devices[0]).keys()) {
        return Err(format!("the service has {on_service:#?}"));
    }
    checks::check_contents(world, &world.persons.oracle, options).await
}

/// Removes a part of everything as the user of a device. Returns what is gone.
fn remove_part(world: &World, at: usize, is_noticed: bool) -> Tree {
    let device = &world.devices[at];
    let before = actions::without_rules(tree_of(device));
    let paths: Vec<&String> = before.keys().collect();
    let one = world.random.pick(&paths).into_iter().copied();
    let more = paths.iter().filter(|_| world.random.one_in(3)).copied();
    for path in one.chain(more) {
        let path = Path::new(ROOT).join(path);
        // It may be gone with a folder.
        drop(
            device
                .disk
                .user(&path, is_noticed, |files| files.remove(&path)),
        );
    }
    let left = tree_of(device);
    let gone = before
        .into_iter()
        .filter(|(path, _)| !left.contains_key(path));
    let gone: Tree = gone.collect();
    for content in gone.values().flatten() {
        world.persons.oracle.put_away(content, &device.name);
    }
    gone
}

/// Edits one of some files as the user of a device. Returns it as it is then.
fn edit_one(world: &World, at: usize, files: &Tree) -> Option<(String, Vec<u8>)> {
    let device = &world.devices[at];
    let files: Vec<(&String, &Vec<u8>)> = files
        .iter()
        .filter_map(|(path, bytes)| Some((path, bytes.as_ref()?)))
        .collect();
    let (path, old) = *world.random.pick(&files)?;
    let oracle = &world.persons.oracle;
    oracle.put_away(old, &device.name);
    let bytes = oracle.write(&device.name);
    device.write(path, &bytes);
    Some((path.clone(), bytes))
}
