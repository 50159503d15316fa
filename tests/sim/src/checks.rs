//! Properties of all devices at the end of a random run.

use crate::entries::Entries;
use crate::oracle::{Oracle, label};
use crate::run_options::RunOptions;
use crate::world::{Tree, World, tree_of};
use crate::{rules, truth};
use cairn_crypto::content_hash;

/// Checks that every device has all contents, or that one of them or the service has each where rules, modes or names
/// keep some from the others: what moves to where its device leaves everything out is on the service alone.
pub(crate) async fn check_contents(
    world: &World,
    oracle: &Oracle,
    options: RunOptions,
) -> Result<(), String> {
    let trees = world.devices.iter().map(|one| (&*one.name, tree_of(one)));
    let may_differ = options.has_rules() || world.may_differ();
    let trees: Vec<(&str, Tree)> = match may_differ {
        false => trees.collect(),
        true => {
            let named = trees.flat_map(|(name, tree)| {
                let paths = tree.into_iter();
                paths.map(move |(path, bytes)| (format!("{name}: {path}"), bytes))
            });
            vec![("no device", named.collect())]
        }
    };
    for (name, tree) in &trees {
        let mut missing = oracle.missing_contents(tree);
        if may_differ && !missing.is_empty() {
            let there = truth::contents_on_service(world).await?;
            missing.retain(|content| !there.contains(&content_hash(content)));
        }
        if !missing.is_empty() {
            let missing: Vec<_> = missing.iter().map(|content| label(content)).collect();
            let tree = described(tree);
            return Err(format!("{name} lacks {missing:?}; there is {tree:#?}"));
        }
    }
    Ok(())
}

/// Returns a line for each path of a tree.
pub(crate) fn described(tree: &Tree) -> Vec<String> {
    let lines = tree.iter().map(|(path, bytes)| match bytes {
        Some(bytes) => format!("{path} = {}", label(bytes)),
        None => path.clone(),
    });
    lines.collect()
}

/// Checks that no device has a leftover of ours, and none a conflict copy where nobody can have conflicts.
pub(crate) fn check_names(world: &World, options: RunOptions) -> Result<(), String> {
    for device in &world.devices {
        let tree = tree_of(device);
        if options.one_editor && tree.keys().any(|path| path.contains("(conflicted copy ")) {
            return Err(format!(
                "one editor alone made a conflict copy: {:?}",
                tree.keys()
            ));
        }
        if tree.keys().any(|path| path.contains(".cairn-")) {
            return Err(format!(
                "{} has a leftover of ours: {:?}",
                device.name,
                tree.keys()
            ));
        }
    }
    Ok(())
}

/// Checks what [`World::settle`] does not compare. The bit of a file that somebody without keys has changed since is
/// vouched for by nobody, and each device keeps the one that it knows.
pub(crate) async fn check_executable_bits(
    world: &World,
    options: RunOptions,
) -> Result<(), String> {
    let mut unsealed = truth::unsealed_on_service(world).await?;
    if !options.keyless && !unsealed.is_empty() {
        return Err(format!("no device has sealed {unsealed:?}"));
    }
    if world.may_differ() {
        return Ok(());
    }
    unsealed.append(&mut rules::exempt(world).await?);
    let exempt = unsealed;
    for (n, one) in world.devices.iter().enumerate() {
        let entries = Entries::of(one).without(&exempt);
        for other in &world.devices[..n] {
            let differences = entries.differences(&Entries::of(other).without(&exempt));
            if !differences.is_empty() {
                let devices = format!("{} and {}", one.name, other.name);
                return Err(format!("{devices} do not become equal: {differences:#?}"));
            }
        }
    }
    Ok(())
}
