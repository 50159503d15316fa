//! Ignore rules, links, permissions and selective sync (scenarios S170–S186).

use anyhow::{Result, ensure};
use cairn_e2e::device::Options;
use cairn_e2e::world::Setup;
use cairn_e2e::{Scenario, Tree, World, wait};

fn differs(expected: &str, found: &Tree) -> Result<()> {
    match Tree::literal(expected).difference(found) {
        Some(difference) => anyhow::bail!("\n{difference}"),
        None => Ok(()),
    }
}

#[test]
fn s170_an_ignored_file_waits_until_its_rule_goes() -> Result<()> {
    let world = World::with_base("f=v1; other=o")?;
    let files = world.a.files();
    files.run(".cairnignore=f")?;
    world.settle()?;
    files.run("f=v2-longer")?;
    world.settle()?;
    differs(".cairnignore=f; f=v1; other=o", &world.b.tree()?)?;
    files.run(".cairnignore=")?;
    world.settle()?;
    world.expect(&Tree::literal(".cairnignore=; f=v2-longer; other=o"))?;
    world.finish()
}

#[test]
fn s171_a_rule_for_a_synced_file_deletes_it_nowhere() -> Result<()> {
    let world = World::with_base("f=kept; g=g")?;
    world
        .a
        .must(&["ignore", &world.a.root_text(), "--add", "f"])?;
    world.settle()?;
    for device in [&world.a, &world.b] {
        ensure!(
            device.files().read("f")? == b"kept",
            "{} lost f",
            device.name()
        );
    }
    world.server.service().node("f")?;
    world.steady()?;
    world.finish()
}

#[test]
fn s173_a_file_moved_into_an_ignored_folder_leaves_the_others() -> Result<()> {
    let world = World::with_base(".cairnignore=build/; a=A")?;
    world.a.files().run("mkdir build; mv a build/a")?;
    world.settle()?;
    differs(".cairnignore=build/; build/a=A", &world.a.tree()?)?;
    differs(".cairnignore=build/", &world.b.tree()?)?;
    let remote = world.server.service().tree()?;
    ensure!(
        !remote.keys().any(|path| path.starts_with("build")),
        "{remote:?}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s175_a_rule_and_its_exception() -> Result<()> {
    let world = World::two_devices()?;
    let files = world.a.files();
    files.write(".cairnignore", "*.log\n!keep.log\n")?;
    files.run("x.log=x; keep.log=k; d/y.log=y; d/z=z")?;
    world.settle()?;
    let expected =
        Tree::literal("keep.log=k; d/z=z").with_file(".cairnignore", "*.log\n!keep.log\n");
    ensure!(
        expected.difference(&world.b.tree()?).is_none(),
        "B has {:?}",
        world.b.tree()?
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s176_an_edited_rule_applies_on_the_other_device_too() -> Result<()> {
    let world = World::with_base(".cairnignore=*.tmp; a=1")?;
    world.a.files().run(".cairnignore=*.bak")?;
    world.settle()?;
    world.b.files().run("b.bak=only here; c.tmp=everywhere")?;
    world.settle()?;
    differs(
        ".cairnignore=*.bak; a=1; c.tmp=everywhere",
        &world.a.tree()?,
    )?;
    ensure!(world.b.files().exists("b.bak"));
    world.steady()?;
    world.finish()
}

#[test]
fn s180_links_are_not_followed_and_are_reported() -> Result<()> {
    let world = World::two_devices()?;
    let files = world.a.files();
    files.symlink(".", "l")?;
    files.symlink("/etc", "dl")?;
    files.run("ok=fine")?;
    let skipped = |status: &cairn_e2e::status::Status| {
        ["l", "dl"]
            .iter()
            .all(|link| status.problem_at(link).is_some())
    };
    world.a.wait_status("both links are reported", skipped)?;
    world.settle()?;
    differs("ok=fine", &world.b.tree()?)?;
    let remote: Vec<String> = world.server.service().tree()?.into_keys().collect();
    assert_eq!(remote, ["ok"]);
    world.steady()?;
    world.finish()
}

#[test]
fn a_folder_that_is_deleted_elsewhere_stays_only_for_what_does_not_sync() -> Result<()> {
    let world = World::with_base(
        ".cairnignore=*.tmp; rule/code=1; link/code=2; nested/code=3; nested/.cairnignore=local",
    )?;
    let there = world.b.files();
    there.run("rule/x.tmp=mine; nested/local=mine")?;
    there.symlink("/etc", "link/etc")?;
    world.settle()?;
    world
        .a
        .files()
        .run("rm -r rule; rm -r link; rm -r nested")?;
    world.settle()?;
    differs(".cairnignore=*.tmp", &world.a.tree()?)?;
    let remote: Vec<String> = world.server.service().tree()?.into_keys().collect();
    assert_eq!(remote, [".cairnignore"]);
    for code in ["rule/code", "link/code", "nested/code"] {
        ensure!(!there.exists(code), "{code} is still there");
    }
    ensure!(there.read("rule/x.tmp")? == b"mine" && there.read("nested/local")? == b"mine");
    ensure!(there.path("link/etc").is_symlink());
    let path = format!("{}/rule", world.b.root_text());
    let why = world.b.must(&["why", &path])?.json()?;
    assert_eq!(why["reason"], "deleted_there", "{why}");
    world.steady()?;

    there.run("rm rule/x.tmp; rm link/etc; rm nested/local")?;
    world.settle()?;
    for folder in ["rule", "link", "nested"] {
        ensure!(!there.exists(folder), "{folder} is still there");
    }
    world.steady()?;
    world.finish()
}

#[test]
fn a_file_comes_once_the_link_that_has_its_name_is_removed() -> Result<()> {
    let world = World::two_devices()?;
    let files = world.b.files();
    files.symlink("/etc", "x")?;
    world.a.files().run("x=comes")?;
    world.settle()?;
    ensure!(files.path("x").is_symlink());
    // Nobody asks for a look at everything.
    files.run("rm x")?;
    wait::holds("the file comes", wait::SYNC, || Ok(files.exists("x")))?;
    world.expect(&Tree::literal("x=comes"))?;
    world.finish()
}

#[test]
fn s181_a_file_replaced_by_a_link_is_kept_elsewhere() -> Result<()> {
    let world = World::with_base("f=kept; g=g")?;
    world.a.files().run("rm f")?;
    world.a.files().symlink("g", "f")?;
    for _ in 0..3 {
        world.a.cycle()?;
        world.b.cycle()?;
    }
    differs("f=kept; g=g", &world.b.tree()?)?;
    world.server.service().node("f")?;
    world.finish()
}

#[test]
fn s183_a_hard_link_is_a_file_of_its_own() -> Result<()> {
    let world = World::with_base("a=x")?;
    world.a.files().hard_link("a", "b")?;
    world.settle()?;
    world.expect(&Tree::literal("a=x; b=x"))?;
    world.a.files().run("rm a")?;
    world.settle()?;
    world.expect(&Tree::literal("b=x"))?;
    world.finish()
}

#[test]
fn s185_the_executable_bit_travels_without_the_content() {
    Scenario::new("S185")
        .base("s.sh=echo; t.sh=other")
        .a_does(|files| files.chmod("s.sh", 0o755))
        .expect("s.sh=echo; t.sh=other")
        .transfers(0, 0)
        .also(|world| {
            let files = world.b.files();
            ensure!(
                files.mode("s.sh")? == 0o755,
                "mode {:o}",
                files.mode("s.sh")?
            );
            ensure!(
                files.mode("t.sh")? & 0o111 == 0,
                "mode {:o}",
                files.mode("t.sh")?
            );
            Ok(())
        })
        .run();
}

#[test]
fn s186_an_excluded_folder_stays_away_when_its_parent_is_renamed() -> Result<()> {
    let world = World::with(Setup {
        b: Options {
            add: vec!["--exclude".to_owned(), "p/a".to_owned()],
            ..Options::default()
        },
        ..Setup::default()
    })?;
    world.a.files().run("p/a/f=f; p/b/g=g")?;
    world.settle()?;
    differs("p/b/g=g", &world.b.tree()?)?;
    world.a.files().run("mv p q")?;
    world.settle()?;
    differs("q/b/g=g", &world.b.tree()?)?;
    differs("q/a/f=f; q/b/g=g", &world.a.tree()?)?;
    world.server.service().node("q/a/f")?;
    world.steady()?;
    world.finish()
}

#[test]
fn s188_a_device_that_joins_sends_nothing_that_the_shared_rules_forbid() -> Result<()> {
    let mut world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    world.a.files().run(".cairnignore=*.key; doc=d")?;
    world.b.files().run("id.key=secret; own=o")?;
    world.link_one_after_the_other()?;
    differs(".cairnignore=*.key; doc=d; own=o", &world.a.tree()?)?;
    differs(
        ".cairnignore=*.key; doc=d; id.key=secret; own=o",
        &world.b.tree()?,
    )?;
    let remote = world.server.service().tree()?;
    ensure!(
        !remote.keys().any(|path| path.contains("id.key")),
        "{remote:?}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn s189_shared_rules_in_a_directory_hold_for_a_device_that_joins() -> Result<()> {
    let mut world = World::with(Setup {
        unlinked: true,
        ..Setup::default()
    })?;
    world.a.files().run("s/.cairnignore=*.key; s/doc=d")?;
    world.b.files().run("s/id.key=secret; s/own=o; top.key=t")?;
    world.link_one_after_the_other()?;
    differs(
        "s/.cairnignore=*.key; s/doc=d; s/own=o; top.key=t",
        &world.a.tree()?,
    )?;
    world.a.files().run("mv s n")?;
    world.settle()?;
    differs(
        "n/.cairnignore=*.key; n/doc=d; n/id.key=secret; n/own=o; top.key=t",
        &world.b.tree()?,
    )?;
    let remote = world.server.service().tree()?;
    ensure!(
        !remote.keys().any(|path| path.contains("id.key")),
        "{remote:?}"
    );
    world.steady()?;
    world.finish()
}

#[test]
fn only_the_chosen_subfolder_comes_and_a_new_sibling_stays_away() -> Result<()> {
    let world = World::with(Setup {
        b: Options {
            add: vec!["--only".to_owned(), "mine".to_owned()],
            ..Options::default()
        },
        ..Setup::default()
    })?;
    world.a.files().run("mine/f=f; theirs/g=g; top=t")?;
    world.settle()?;
    world.a.files().run("later/h=h; mine/deep/i=i")?;
    world.settle()?;
    let found = world.b.tree()?;
    ensure!(
        found.file("mine/f").is_some() && found.file("mine/deep/i").is_some(),
        "{found:?}"
    );
    ensure!(
        !world.b.files().exists("theirs") && !world.b.files().exists("later"),
        "{found:?}"
    );
    world.steady()?;
    world.finish()
}
