//! Deletes whole accounts, teams and spaces (their trees of files), with everything that belongs to them.
//!
//! The data that other modules keep for an account or a node has a column of that name, and is found by
//! it here: a table that is added later can't be forgotten.

use super::purge::{self, Purged};
use super::rows::id;
use super::{Space, Store, Tx, chunks, comments, space_log, teams};
use crate::db;
use crate::error::Result;
use crate::rights::Right;
use cairn_model::{AccountId, NodeId, TeamId};

/// Tables that are not emptied by their `account` or `node` column: a revision in a team's space
/// outlives its writer, so does the place of a comment that others have answered, and the rest goes by way
/// of the space.
const BY_OTHER_WAYS: [&str; 5] = ["revisions", "uploads", "chunks", "nodes", "comments"];

/// The tables with a column of this name, but for those that go by other ways.
fn tables_with(tx: &Tx<'_>, column: &str) -> Result<Vec<String>> {
    let all = tx.conn.tables_with(column)?;
    Ok(all
        .into_iter()
        .filter(|table| !BY_OTHER_WAYS.contains(&table.as_str()))
        .collect())
}

/// Deletes a space with all of its nodes, their content and what was said about them.
fn erase_space(tx: &Tx<'_>, space: Space, purged: &mut Purged) -> Result<()> {
    let nodes: Vec<NodeId> = tx
        .conn
        .prepare(
            "SELECT id FROM nodes WHERE space = ?1 UNION SELECT node FROM uploads WHERE space = ?1",
        )?
        .query_map([space.row], |row| id(row, 0))?
        .collect::<db::Result<_>>()?;
    let node_tables = tables_with(tx, "node")?;
    tx.conn
        .execute("DELETE FROM uploads WHERE space = ?1", [space.row])?;
    for node in &nodes {
        purge::erase(tx, *node, purged)?;
        chunks::drop_unused(tx.conn, *node, &mut purged.objects)?;
        for table in &node_tables {
            tx.conn
                .prepare_cached(&format!("DELETE FROM \"{table}\" WHERE node = ?1"))?
                .execute([node.as_bytes()])?;
        }
    }
    space_log::delete_log(tx.conn, space, &mut purged.objects)?;
    for table in ["nodes", "node_text_state", "checkpoints"] {
        tx.conn.execute(
            &format!("DELETE FROM {table} WHERE space = ?1"),
            [space.row],
        )?;
    }
    Ok(())
}

fn erase_team(tx: &Tx<'_>, team: TeamId, purged: &mut Purged) -> Result<()> {
    let space = tx.conn.query_row(
        "SELECT s.row, s.id FROM teams t JOIN spaces s ON s.row = t.space WHERE t.id = ?1",
        [team.as_bytes()],
        |row| {
            Ok(Space {
                row: row.get(0)?,
                id: id(row, 1)?,
            })
        },
    )?;
    erase_space(tx, space, purged)?;
    // Its bandwidth is counted under its own id.
    tx.conn.execute(
        "DELETE FROM bandwidth WHERE account = ?1",
        [team.as_bytes()],
    )?;
    tx.conn
        .execute("DELETE FROM teams WHERE id = ?1", [team.as_bytes()])?;
    tx.conn
        .execute("DELETE FROM spaces WHERE row = ?1", [space.row])?;
    Ok(())
}

/// Deletes an account for good. Its teams go on without it; those that nobody is left in go too.
pub(super) fn erase_account(tx: &Tx<'_>, account: AccountId, purged: &mut Purged) -> Result<()> {
    let (space, email): (Space, String) = tx.conn.query_row(
        "SELECT s.row, s.id, a.email FROM accounts a JOIN spaces s ON s.row = a.space WHERE a.id = ?1",
        [account.as_bytes()],
        |row| {
            let space = Space {
                row: row.get(0)?,
                id: id(row, 1)?,
            };
            Ok((space, row.get(2)?))
        },
    )?;
    for team in tx.leave_all_teams(account)? {
        erase_team(tx, team, purged)?;
    }
    erase_space(tx, space, purged)?;
    comments::forget_author(tx.conn, account)?;
    tx.conn.execute(
        "DELETE FROM refresh_tokens WHERE grant_id IN (SELECT id FROM grants WHERE account = ?1)",
        [account.as_bytes()],
    )?;
    for table in tables_with(tx, "account")? {
        tx.conn.execute(
            &format!("DELETE FROM \"{table}\" WHERE account = ?1"),
            [account.as_bytes()],
        )?;
    }
    tx.conn
        .execute("DELETE FROM team_invitations WHERE email = ?1", [&email])?;
    tx.conn.execute(
        "DELETE FROM mails WHERE recipient = ?1 COLLATE NOCASE",
        [&email],
    )?;
    tx.conn
        .execute("DELETE FROM mail_codes WHERE email = ?1", [&email])?;
    tx.conn.execute(
        "DELETE FROM admin_events WHERE subject IS NULL AND data ->> 'email' = ?1 COLLATE NOCASE",
        [&email],
    )?;
    tx.conn.execute(
        "DELETE FROM reports WHERE reporter = ?1",
        [account.as_bytes()],
    )?;
    tx.conn
        .execute("DELETE FROM accounts WHERE id = ?1", [account.as_bytes()])?;
    tx.conn
        .execute("DELETE FROM spaces WHERE row = ?1", [space.row])?;
    Ok(())
}

impl Store {
    /// Deletes a team with its files. The objects are to be deleted by the caller.
    ///
    /// # Errors
    /// 404, 403 for anybody but the owner.
    pub fn delete_team(&self, account: AccountId, team: TeamId) -> Result<Purged> {
        self.write(|tx| {
            let its = teams::require(tx.conn, team, account, Right::DeleteTeam)?;
            let mut purged = Purged::default();
            let mut users = teams::member_ids(tx.conn, team)?;
            // The owner last: whoever is still in the team hears of those who go.
            users.sort_by_key(|user| *user == account);
            for user in users {
                tx.take_out(team, its.space, user)?;
            }
            erase_team(tx, team, &mut purged)?;
            Ok(purged)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{add_account, add_actor, make_folder};
    use crate::{Actor, Administrator, Clock, Edit, Limits, Mode, Search, Source, Store};
    use cairn_model::{EventKind, NodeId};
    use cairn_wire::teams::TeamRole;
    use std::path::Path;
    use std::sync::Arc;

    /// Returns which of some words the files of a database have, in any letters.
    fn left_of<'a>(data: &Path, store: &Store, words: &[&'a str]) -> Vec<&'a str> {
        store.write_through().unwrap();
        let mut text = String::new();
        for name in ["cairn.db", "cairn.db-wal"] {
            let bytes = std::fs::read(data.join(name)).unwrap();
            text += &String::from_utf8_lossy(&bytes).to_lowercase();
        }
        let mut words = words.to_vec();
        words.retain(|word| text.contains(word));
        words
    }

    /// An account in a database file, and a folder of it with texts, which a search has indexed.
    fn described_folder(data: &Path) -> (Store, Actor, NodeId) {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = Store::open(Some(data), Arc::new(Source::new(clock, Some(1)))).unwrap();
        let actor = add_actor(&store);
        let folder = make_folder(&store, &actor, "Quagmire");
        let edit = Edit {
            description: Some("a zephyr of words".to_owned()),
            tags: Some(vec!["flummoxed".to_owned()]),
            ..Edit::default()
        };
        store.write(|tx| tx.edit(&actor, folder, &edit)).unwrap();
        (store, actor, folder)
    }

    fn index(store: &Store, actor: &Actor) {
        let search = Search {
            text: "zephyr".to_owned(),
            mode: Mode::Words,
            ..Search::default()
        };
        let found = store.search(&[actor.space], &search, 0, 9).unwrap();
        assert_eq!(found.1, 1);
    }

    #[test]
    fn the_owner_of_a_deleted_team_hears_of_all_who_were_in_it() {
        let store = crate::testing::open(Arc::new(Source::new(Clock::System, Some(1))));
        let [owner, member] =
            ["a", "b"].map(|name| add_account(&store, &format!("{name}@x.example")).id);
        let team = store
            .create_team(owner, "Crew", &Limits::default())
            .unwrap();
        store
            .write(|tx| tx.join(team.id, member, TeamRole::Member))
            .unwrap();
        let url = "https://hooks.example.com/";
        let events = [EventKind::TeamMemberLeft];
        store.add_webhook(owner, url, &events, "s").unwrap();
        let before = store.due_deliveries().unwrap().len();
        store.delete_team(owner, team.id).unwrap();
        assert_eq!(store.due_deliveries().unwrap().len() - before, 2);
    }

    #[test]
    fn no_word_of_what_was_deleted_for_good_stays_in_the_files() {
        let dir = tempfile::tempdir().unwrap();
        let (store, actor, folder) = described_folder(dir.path());
        index(&store, &actor);
        let commented = |text: &str| store.write(|tx| tx.add_comment(&actor, folder, None, text));
        let comment = commented("Kerfuffle over it").unwrap();
        commented("Balderdash instead").unwrap();
        let words = ["quagmire", "zephyr", "flummoxed", "kerfuffle", "balderdash"];
        assert_eq!(left_of(dir.path(), &store, &words), words);
        store
            .write(|tx| tx.delete_comment(actor.account, comment.id))
            .unwrap();
        assert!(left_of(dir.path(), &store, &["kerfuffle"]).is_empty());
        store
            .write(|tx| tx.trash(&actor, folder, None, None).map(drop))
            .unwrap();
        store.write(|tx| tx.purge(&actor, folder)).unwrap();
        assert_eq!(left_of(dir.path(), &store, &words), Vec::<&str>::new());
    }

    #[test]
    fn no_word_of_an_account_stays_in_the_files() {
        let dir = tempfile::tempdir().unwrap();
        let (store, actor, _) = described_folder(dir.path());
        index(&store, &actor);
        let words = ["quagmire", "zephyr", "flummoxed"];
        assert_eq!(left_of(dir.path(), &store, &words), words);
        store
            .delete_account(Administrator::CommandLine, actor.account)
            .unwrap();
        assert_eq!(left_of(dir.path(), &store, &words), Vec::<&str>::new());
    }
}
