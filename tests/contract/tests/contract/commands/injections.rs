//! Planted texts: orders to the assistant in every place where somebody else can write, in a real account on a
//! real server, read through the real program. None may change what is called, and in a lockdown none comes through.

mod answer;
mod assistant;
mod forms;

use crate::commands::session::Session;
use crate::commands::world::{PASSPHRASE, World};
use crate::support::OWNER;
use assistant::{Assistant, Known};
use cairn_e2e::http::Http;
use forms::{FORMS, is_planted};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MEMBER: &str = "ck_dev_member";

/// The places that carry a planted text, by the numbers in its code.
const CARRIERS: [&str; 15] = [
    "name of a file",
    "name of a folder",
    "description",
    "value of a label",
    "name of a label",
    "tag",
    "content of a file",
    "comment",
    "reply to a comment",
    "name of a team",
    "display name of a member",
    "profile of a member",
    "name of a device",
    "name of something in the trash",
    "name of a team's folder",
];

/// The account, with one of each carrier.
struct Planted<'a> {
    world: &'a World,
    owner: Http,
    member: Http,
    file: Value,
    folder: Value,
    described: Value,
    read: Value,
    team: Value,
    team_folder: Value,
    device: String,
}

fn by_key(world: &World, key: &str) -> Session {
    let variables = [("SERVICE_API_KEY", key), ("SERVICE_API_URL", &*world.url)];
    Session::start(world, "none", &variables)
}

fn with_keys(world: &World, more: &[(&str, &str)]) -> Session {
    Session::start(world, "a", more)
}

impl<'a> Planted<'a> {
    fn begin(world: &'a World) -> Self {
        world.login("a");
        let mut owner = with_keys(world, &[]);
        let mut upload = |name: &str| {
            world.write(name, name);
            let local = json!({ "local_path": world.path(name) });
            owner.call("upload_file", local)["file_uuid"].clone()
        };
        let (file, described, read) = (upload("a.txt"), upload("b.txt"), upload("c.txt"));
        owner.call("create_share_link", json!({ "file_uuid": file }));
        let folder = owner.call("create_folder", json!({ "name": "d" }))["id"].clone();
        let mut member = by_key(world, MEMBER);
        let team = member.call("create_team", json!({ "name": "t" }))["id"].clone();
        let invite = json!({ "team_uuid": team, "email": "owner@example.com" });
        let invitation = member.call("invite_team_member", invite)["id"].clone();
        let team_folder = json!({ "name": "e", "parent_uuid": team });
        let team_folder = member.call("create_folder", team_folder)["id"].clone();
        let user = member.call("get_account_info", json!({}))["id"].clone();
        owner.call("follow_user", json!({ "target_user_id": user }));
        let own = owner.call("get_account_info", json!({}))["id"].clone();
        member.call("follow_user", json!({ "target_user_id": own }));
        assert_eq!((owner.end(), member.end()), (Some(0), Some(0)));
        let planted = Self {
            world,
            owner: Http::new(&world.url, Some(OWNER)),
            member: Http::new(&world.url, Some(MEMBER)),
            file,
            folder,
            described,
            read,
            team,
            team_folder,
            device: uuid::Uuid::from_bytes([0x44; 16]).to_string(),
        };
        let accept = format!("teams/invitations/{}/accept", text(&invitation));
        post(&planted.owner, &accept, &json!({}));
        planted
    }

    /// Writes the texts of a form into all carriers.
    fn plant(&self, form: usize, owner: &mut Session, member: &mut Session) {
        let name = |carrier| forms::name(form, carrier);
        let line = |carrier, longest| forms::line(form, carrier, longest);
        let lines = |carrier, longest| forms::lines(form, carrier, longest);
        let node = |id: &Value| format!("nodes/{}", text(id));
        put(&self.owner, &node(&self.file), &json!({ "name": name(0) }));
        put(
            &self.owner,
            &node(&self.folder),
            &json!({ "name": name(1) }),
        );
        let details = json!({
            "description": lines(2, 5_000),
            "labels": { line(4, 60): line(3, 60) },
            "tags": [line(5, 40)],
        });
        put(&self.owner, &node(&self.described), &details);
        let content = forms::text(form, 6, 100_000);
        self.world.write("c.txt", content);
        let upload = json!({ "local_path": self.world.path("c.txt") });
        owner.call("upload_file", upload);
        let comments = format!("{}/comments", node(&self.described));
        let comment = json!({ "text": lines(7, 4_000) });
        let comment = post(&self.owner, &comments, &comment);
        let replies = format!("{comments}/{}/replies", text(&comment["id"]));
        post(&self.owner, &replies, &json!({ "text": lines(8, 4_000) }));
        let team = json!({ "name": line(9, 200) });
        put(&self.member, &format!("teams/{}", text(&self.team)), &team);
        let profile = json!({ "display_name": line(10, 90), "bio": lines(11, 400) });
        put(&self.member, "social/profile", &profile);
        let device = json!({ "id": self.device, "name": line(12, 90) });
        let devices = format!("devices/{}", self.device);
        put(&self.owner, &devices, &device);
        let trashed = json!({ "kind": "folder", "name": name(13) });
        let trashed = node(&post(&self.owner, "nodes", &trashed)["id"]);
        let deleted = self.owner.delete(&format!("/api/v1/{trashed}"));
        deleted.expect("it goes to the trash");
        let rename = json!({ "file_uuid": self.team_folder, "new_name": name(14) });
        member.call("rename_file", rename);
    }

    /// Lets the stand-in look through the account.
    fn look<'b>(&self, session: &'b mut Session, downloads: &str) -> Assistant<'b> {
        let mut assistant = Assistant::new(session);
        assistant.look_through(&Known {
            file: &self.file,
            folder: &self.folder,
            commented: &self.described,
            read: &self.read,
            team_folder: &self.team_folder,
            downloads,
        });
        assistant
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn put(http: &Http, path: &str, body: &Value) {
    let done = http.put(&format!("/api/v1/{path}"), body);
    done.unwrap_or_else(|error| panic!("{body}: {error:#}"));
}

fn post(http: &Http, path: &str, body: &Value) -> Value {
    let done = http.post(&format!("/api/v1/{path}"), body);
    done.unwrap_or_else(|error| panic!("{body}: {error:#}"))
}

#[test]
fn no_planted_text_changes_what_is_called_and_none_passes_a_lockdown() {
    let world = World::new();
    let account = Planted::begin(&world);
    let keys = [("SERVICE_PASSPHRASE", PASSPHRASE)];
    let (mut owner, mut member) = (with_keys(&world, &keys), by_key(&world, MEMBER));
    let mut fenced = with_keys(&world, &[]);
    let mut locked = with_keys(&world, &[("CAIRN_MCP_LOCKDOWN", "true")]);
    let all: BTreeSet<usize> = (0..CARRIERS.len()).collect();
    let mut without = (Vec::new(), Vec::new());
    let mut planted = 0;
    for form in 0..FORMS.len() {
        account.plant(form, &mut owner, &mut member);
        let downloads = world.text(&format!("down{form}"));

        let seen = account.look(&mut fenced, &downloads);
        let missing = all.difference(&seen.carriers).map(|at| CARRIERS[*at]);
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "form {form}: no answer has {missing:?}");
        let calls: Vec<_> = seen
            .calls
            .iter()
            .map(|call| call.replace(&downloads, ""))
            .collect();

        let seen = account.look(&mut locked, &downloads);
        let leaks: Vec<_> = seen
            .answers
            .iter()
            .filter(|text| is_planted(text))
            .collect();
        assert!(leaks.is_empty(), "form {form}: {leaks:#?}");
        let locked_calls: Vec<_> = seen
            .calls
            .iter()
            .map(|call| call.replace(&downloads, ""))
            .collect();
        if form == 0 {
            without = (calls, locked_calls);
            continue;
        }
        assert_eq!(calls, without.0, "form {form}");
        assert_eq!(locked_calls, without.1, "form {form}, in a lockdown");
        planted += CARRIERS.len();
    }
    assert!(planted >= 200, "{planted} texts");
    for session in [owner, member, fenced, locked] {
        assert_eq!(session.end(), Some(0));
    }
}
