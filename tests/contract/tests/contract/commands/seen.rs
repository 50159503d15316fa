//! Commands beside a server that shows an older state, correctly sealed at its time, to a device whose synced folders
//! have seen a later one.

use crate::commands::world::{CommandOutput, Stopping, World};
use serde_json::{Value, json};

const OLD: &str = "before it was redacted";
const NEW: &str = "redacted";

/// A file `/plan` in the account's own space or that of a team, in its later state, which the device has synced.
struct Plan {
    world: World,
    /// The options that name the space.
    within: Vec<&'static str>,
    /// The file as the service gave it in its first state.
    before: Value,
}

impl Plan {
    fn new(team: Option<&'static str>) -> Self {
        let world = World::new();
        world.login("a");
        let within: Vec<&str> = team.map_or_else(Vec::new, |name| vec!["--team", name]);
        let add: Vec<&str> = team.map_or_else(Vec::new, |name| vec!["--space", name]);
        if let Some(name) = team {
            world.json("a", &["teams", "create", name]);
            world.json("a", &["teams", "grant", name]);
        }
        let plan = world.text("plan");
        let upload = [&["upload", &plan][..], &within].concat();
        world.write("plan", OLD);
        let node = world.json("a", &upload)["node"]["id"].clone();
        let before = world.served_node(node.as_str().unwrap(), team);
        world.write("plan", NEW);
        world.json("a", &upload);
        std::fs::create_dir_all(world.path("f")).unwrap();
        world.json("a", &[&["add", "f", "--remote", "/"][..], &add].concat());
        {
            let _stopping = Stopping(&world, "a");
            world.json("a", &["status", "--wait", "--timeout", "60"]);
        }
        assert_eq!(std::fs::read_to_string(world.path("f/plan")).unwrap(), NEW);
        Self {
            world,
            within,
            before,
        }
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        self.world
            .run("a", &[&["--json"], args, &self.within].concat())
    }

    fn document(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert_eq!(output.code, 0, "{args:?}: {output:?}");
        serde_json::from_str(&output.stdout).unwrap()
    }

    fn show_past(&self) {
        self.world.dev(
            "/_dev/faults",
            json!({"path_pattern": "/api/v1/nodes$", "method": "GET", "set": {"/content/0": self.before}}),
        );
    }

    fn verify(&self, mode: &str) {
        self.world
            .json("a", &["config", "set", "sync.verify", mode]);
    }

    /// The commands that hand out the file's content.
    fn reading(&self) -> [Vec<String>; 3] {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        [
            words(&["cat", "/plan"]),
            words(&[
                "download",
                "/plan",
                "--force",
                "--out",
                &self.world.text("out"),
            ]),
            words(&["download-folder", "/", "--out", &self.world.text("all")]),
        ]
    }
}

fn an_older_state_is_not_verified(team: Option<&'static str>) {
    let plan = Plan::new(team);
    plan.verify("strict");
    let cat = plan.document(&["cat", "/plan"]);
    assert_eq!(
        (&cat["text"], &cat["verified"]),
        (&json!(NEW), &json!(true)),
        "the honest server"
    );
    plan.show_past();
    for args in plan.reading() {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let refused = plan.run(&args);
        refused.assert_refused(5, &["/plan", "later state"]);
        assert!(!refused.stdout.contains(OLD), "{refused:?}");
    }
    let diff = ["diff", "/plan", "1", "2"];
    plan.run(&diff).assert_refused(5, &["later state"]);
    // Commands make links in the account's own space only.
    if team.is_none() {
        let share = plan.run(&["share", "create", "/plan"]);
        share.assert_refused(1, &["older states", "/plan"]);
    }

    plan.verify("warn");
    let cat = plan.document(&["cat", "/plan"]);
    assert_eq!(
        (&cat["text"], &cat["verified"]),
        (&json!(OLD), &json!(false))
    );
    assert_eq!(plan.document(&["info", "/plan"])["verified"], false);
}

#[test]
fn an_older_state_than_a_synced_folder_has_seen_is_not_verified() {
    an_older_state_is_not_verified(None);
}

#[test]
fn an_older_state_in_the_space_of_a_team_is_not_verified_either() {
    an_older_state_is_not_verified(Some("Solo"));
}
