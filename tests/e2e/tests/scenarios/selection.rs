//! Selective sync when things move: into the selection, out of it, and the selected folder itself
//! (scenario S186 and its neighbours).

use anyhow::{Result, ensure};
use cairn_e2e::device::Options;
use cairn_e2e::world::Setup;
use cairn_e2e::{Tree, World};

/// The state of B while A works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meanwhile {
    Running,
    Paused,
    Stopped,
}

const ALL: [Meanwhile; 3] = [Meanwhile::Running, Meanwhile::Paused, Meanwhile::Stopped];

/// A has everything, B what `choice` (arguments of `cairn add`) leaves of it.
fn with_choice(choice: &[&str], base: &str) -> Result<World> {
    let world = World::with(Setup {
        b: Options {
            add: choice.iter().map(|&arg| arg.to_owned()).collect(),
            ..Options::default()
        },
        ..Setup::default()
    })?;
    world.a.files().run(base)?;
    world.settle()?;
    Ok(world)
}

/// A does what the script says; both come to rest.
fn a_does(world: &mut World, script: &str, meanwhile: Meanwhile) -> Result<()> {
    match meanwhile {
        Meanwhile::Running => world.a.files().run(script)?,
        Meanwhile::Paused => {
            world.b.pause()?;
            world.a.files().run(script)?;
            world.a.wait_idle()?;
            world.b.resume()?;
        }
        Meanwhile::Stopped => {
            world.b.stop()?;
            world.a.files().run(script)?;
            world.a.wait_idle()?;
            world.b.start()?;
        }
    }
    world.settle()
}

fn has(expected: &str, found: &Tree) -> Result<()> {
    match Tree::literal(expected).difference(found) {
        Some(difference) => anyhow::bail!("\n{difference}"),
        None => Ok(()),
    }
}

#[test]
fn what_moves_into_the_chosen_folder_arrives_and_stays_alive() -> Result<()> {
    for meanwhile in ALL {
        let base = "p/a/f=f; p/b/g=g; p/b/deep/h=h; top/t=t; p/c/x=x";
        let mut world = with_choice(&["--only", "p/a"], base)?;
        has("p/a/f=f", &world.b.tree()?)?;
        let script = "mv p/b p/a/b; mv top p/a/top; mv p/c/x p/a/x";
        a_does(&mut world, script, meanwhile)?;
        has(
            "p/a/b/deep/h=h; p/a/b/g=g; p/a/f=f; p/a/top/t=t; p/a/x=x",
            &world.b.tree()?,
        )?;
        let script = "p/a/b/g=edited; p/a/b/deep/new=n; p/c/y=y";
        a_does(&mut world, script, Meanwhile::Running)?;
        has(
            "p/a/b/deep/h=h; p/a/b/deep/new=n; p/a/b/g=edited; p/a/f=f; p/a/top/t=t; p/a/x=x",
            &world.b.tree()?,
        )?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn what_leaves_the_chosen_folder_leaves_this_device_and_can_come_back() -> Result<()> {
    for meanwhile in ALL {
        let base = "p/a/f=f; p/a/x=x; p/a/d/e/g=g; p/b/h=h";
        let mut world = with_choice(&["--only", "p/a"], base)?;
        a_does(&mut world, "mv p/a/x p/x; mv p/a/d p/d", meanwhile)?;
        has("p/a/f=f", &world.b.tree()?)?;
        has("p/a/f=f; p/b/h=h; p/d/e/g=g; p/x=x", &world.a.tree()?)?;
        let script = "mv p/x p/a/y; p/d/e/g=edited; mv p/d p/a/d";
        a_does(&mut world, script, meanwhile)?;
        has("p/a/d/e/g=edited; p/a/f=f; p/a/y=x", &world.b.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn what_moves_out_of_an_excluded_folder_arrives() -> Result<()> {
    for meanwhile in ALL {
        let base = "ex/f=f; ex/s/g=g; ex/s/deep/h=h; ex/s/ex/i=i; ex/j=j; other=o";
        let mut world = with_choice(&["--exclude", "ex/"], base)?;
        has("other=o", &world.b.tree()?)?;
        a_does(&mut world, "mv ex/f f; mv ex/s s", meanwhile)?;
        let expected = "f=f; other=o; s/deep/h=h; s/g=g";
        has(expected, &world.b.tree()?)?;
        let script = "s/g=edited; s/deep/new=n; ex/k=k; s/ex/l=l";
        a_does(&mut world, script, Meanwhile::Running)?;
        let expected = "f=f; other=o; s/deep/h=h; s/deep/new=n; s/g=edited";
        has(expected, &world.b.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn what_goes_into_an_excluded_folder_comes_back_when_it_leaves_it() -> Result<()> {
    for meanwhile in ALL {
        let base = "ex/f=f; k=k; d/e/g=g; d/h=h";
        let mut world = with_choice(&["--exclude", "ex/"], base)?;
        a_does(&mut world, "mv k ex/k; mv d ex/d", meanwhile)?;
        has("", &world.b.tree()?)?;
        let script = "ex/d/h=edited; mv ex/k k; mv ex/d d";
        a_does(&mut world, script, meanwhile)?;
        has("d/e/g=g; d/h=edited; k=k", &world.b.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn a_folder_that_is_renamed_to_an_excluded_name_leaves_and_comes_back() -> Result<()> {
    for meanwhile in ALL {
        let choice = ["--exclude", "ex/", "--exclude", "*.big"];
        let mut world = with_choice(&choice, "d/e/g=g; f=f; other=o")?;
        a_does(&mut world, "mv d ex; mv f f.big", meanwhile)?;
        has("other=o", &world.b.tree()?)?;
        has("ex/e/g=g; f.big=f; other=o", &world.a.tree()?)?;
        world.server.service().node("ex/e/g")?;
        let script = "ex/e/g=edited; mv ex d; mv f.big f";
        a_does(&mut world, script, meanwhile)?;
        has("d/e/g=edited; f=f; other=o", &world.b.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn the_choice_follows_its_folder_there_and_back() -> Result<()> {
    for meanwhile in ALL {
        let mut world = with_choice(&["--only", "p/a"], "p/a/f=f; p/a/d/g=g; p/b/h=h")?;
        a_does(&mut world, "mv p/a p/z; p/z/new=n", meanwhile)?;
        has("p/z/d/g=g; p/z/f=f; p/z/new=n", &world.b.tree()?)?;
        // A new folder under the old name is another folder.
        let script = "p/z/f=edited; p/z/d/i=i; p/a/x=x";
        a_does(&mut world, script, Meanwhile::Running)?;
        let expected = "p/z/d/g=g; p/z/d/i=i; p/z/f=edited; p/z/new=n";
        has(expected, &world.b.tree()?)?;
        world.b.files().run("p/z/f=mine; p/z/j=j")?;
        world.settle()?;
        ensure!(world.a.files().read("p/z/f")? == b"mine");
        ensure!(world.a.files().read("p/z/j")? == b"j");
        let script = "mv p/a p/old; mv p/z p/a; mv p/a/d p/a/d2; mv p q";
        a_does(&mut world, script, meanwhile)?;
        let expected = "q/a/d2/g=g; q/a/d2/i=i; q/a/f=mine; q/a/j=j; q/a/new=n";
        has(expected, &world.b.tree()?)?;
        let rules = world.b.must(&["ignore", &world.b.root_text()])?.stdout;
        ensure!(rules.contains("only q/a"), "{rules}");
        a_does(&mut world, "q/a/f=last; q/k=k", Meanwhile::Running)?;
        ensure!(world.b.files().read("q/a/f")? == b"last");
        ensure!(!world.b.files().exists("q/k"));
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn two_folders_that_swap_names_keep_their_choice() -> Result<()> {
    for meanwhile in ALL {
        let mut world = with_choice(&["--only", "p/a"], "p/a/f=f; p/b/g=g")?;
        let script = "mv p/a p/t; mv p/b p/a; mv p/t p/b";
        a_does(&mut world, script, meanwhile)?;
        has("p/b/f=f", &world.b.tree()?)?;
        has("p/a/g=g; p/b/f=f", &world.a.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn the_chosen_folder_can_be_renamed_here() -> Result<()> {
    for restarted in [false, true] {
        let mut world = with_choice(&["--only", "p/a"], "p/a/f=f; p/a/d/g=g; p/b/h=h")?;
        for (script, here, there) in [
            (
                "mv p/a p/z; p/z/new=n",
                "p/z/d/g=g; p/z/f=f; p/z/new=n",
                "p/b/h=h; p/z/d/g=g; p/z/f=f; p/z/new=n",
            ),
            (
                "mv p q",
                "q/z/d/g=g; q/z/f=f; q/z/new=n",
                "q/b/h=h; q/z/d/g=g; q/z/f=f; q/z/new=n",
            ),
            (
                "mv q/z top",
                "q/; top/d/g=g; top/f=f; top/new=n",
                "q/b/h=h; top/d/g=g; top/f=f; top/new=n",
            ),
        ] {
            if restarted {
                world.b.stop()?;
            }
            world.b.files().run(script)?;
            if restarted {
                world.b.start()?;
            }
            world.settle()?;
            has(here, &world.b.tree()?)?;
            has(there, &world.a.tree()?)?;
        }
        a_does(&mut world, "top/f=edited; q/k=k", Meanwhile::Running)?;
        has("q/; top/d/g=g; top/f=edited; top/new=n", &world.b.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn s186_an_excluded_folder_stays_away_whatever_its_parents_are_called() -> Result<()> {
    let choices: [&[&str]; 2] = [&["--exclude", "p/a"], &["--only", "p", "--exclude", "p/a"]];
    for choice in choices {
        for meanwhile in ALL {
            let mut world = with_choice(choice, "p/a/f=f; p/a/d/e=e; p/b/g=g")?;
            has("p/b/g=g", &world.b.tree()?)?;
            a_does(&mut world, "mv p q", meanwhile)?;
            has("q/b/g=g", &world.b.tree()?)?;
            a_does(&mut world, "q/a/new=n; q/a/d/new=n; mv q r", meanwhile)?;
            has("r/b/g=g", &world.b.tree()?)?;
            world.server.service().node("r/a/d/new")?;
            world.steady()?;
            // Moved itself, it is judged by its new path.
            a_does(&mut world, "mv r/a r/b/a", meanwhile)?;
            has(
                "r/b/a/d/e=e; r/b/a/d/new=n; r/b/a/f=f; r/b/a/new=n; r/b/g=g",
                &world.b.tree()?,
            )?;
            world.steady()?;
            world.finish()?;
        }
    }
    Ok(())
}

#[test]
fn s186_an_unchosen_sibling_stays_away_when_its_parent_is_renamed() -> Result<()> {
    for meanwhile in ALL {
        let mut world = with_choice(&["--only", "p/b"], "p/a/f=f; p/b/g=g")?;
        a_does(&mut world, "mv p q", meanwhile)?;
        has("q/b/g=g", &world.b.tree()?)?;
        a_does(&mut world, "q/a/new=n; q/c/h=h; q/b/i=i", meanwhile)?;
        has("q/b/g=g; q/b/i=i", &world.b.tree()?)?;
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}

#[test]
fn what_a_later_rule_left_alone_comes_when_it_moves_to_where_it_is_wanted() -> Result<()> {
    for meanwhile in ALL {
        let mut world = World::with_base("ex/f=f; ex/s/d/g=g; other=o")?;
        world.b.files().write(".cairnignore", "ex/\n")?;
        world.settle()?;
        a_does(&mut world, "mv ex/f f; mv ex/s s; s/d/g=edited", meanwhile)?;
        ensure!(world.b.files().read("f")? == b"f");
        ensure!(world.b.files().read("s/d/g")? == b"edited");
        ensure!(
            world.b.files().read("ex/f")? == b"f",
            "a rule removes nothing"
        );
        world.steady()?;
        world.finish()?;
    }
    Ok(())
}
