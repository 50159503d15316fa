//! Numbers of rows that one account, or one node, has at most: they keep an account from filling the database with what
//! its storage doesn't count.

use crate::db::{Connection, ToSql};
use crate::error::{Error, Result};

/// A kind of rows, and their number for one account or one node.
pub(super) struct Cap {
    /// The table, and the condition under which a row counts; `?1` is the id of whom it belongs to, and others have what
    /// else the condition needs.
    pub(super) rows: &'static str,
    pub(super) most: u64,
    /// Words for messages, such as `the account has`.
    pub(super) whose: &'static str,
    /// Words for messages, such as `share links`.
    pub(super) name: &'static str,
}

impl Cap {
    /// Refuses one row more than there may be.
    ///
    /// # Errors
    /// 409.
    pub(super) fn check(&self, conn: &Connection, parameters: &[&dyn ToSql]) -> Result<()> {
        let count: u64 = conn
            .prepare_cached(&format!("SELECT count(*) FROM {}", self.rows))?
            .query_row(parameters, |row| row.get(0))?;
        if count >= self.most {
            return Err(Error::conflict(format!(
                "{} {} {}, the most allowed; delete one first",
                self.whose, self.most, self.name
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::db::params;
    use crate::testing;
    use crate::{Actor, Clock, NewShare, ShareSettings, Source, Store};
    use cairn_model::NodeId;
    use cairn_wire::retention::CreateRetentionRule;
    use std::sync::Arc;

    /// The numbers from 1 to the second parameter.
    const NUMBERS: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(?2 AS INTEGER))";

    /// Makes a store with an account that has a folder.
    fn one_folder() -> (Store, Actor, NodeId) {
        let clock = Clock::Virtual { start_ms: 1_000 };
        let store = testing::open(Arc::new(Source::new(clock, Some(1))));
        let actor = testing::add_actor(&store);
        let folder = testing::make_folder(&store, &actor, "d");
        (store, actor, folder)
    }

    /// Adds rows that belong to the account, as many as the statement's second parameter says.
    fn add(store: &Store, actor: &Actor, count: i64, insert: &str) {
        let sql = format!("{NUMBERS} {insert}");
        let which = params![actor.account.as_bytes(), count];
        store
            .write(|tx| Ok(tx.conn.prepare(&sql)?.execute(which)?))
            .unwrap();
    }

    #[test]
    fn an_account_has_so_many_links() {
        let (store, actor, folder) = one_folder();
        add(
            &store,
            &actor,
            9_999,
            "INSERT INTO shares (id, code, account, node, storage_type, is_active, access_mode, allowed_emails, notify, \
             created_at, updated_at) SELECT CAST(CAST(n AS TEXT) AS BLOB), CAST(n AS TEXT), CAST(?1 AS BLOB), x'00', \
             'VR_FOLDER', 1, 'download', '[]', 0, 0, 0 FROM numbers",
        );
        let new = NewShare {
            id: None,
            node: folder,
            storage_type: None,
            settings: ShareSettings::default(),
        };
        let make = || store.write(|tx| tx.create_share(&actor, &new));
        make().unwrap();
        let refused = make().unwrap_err().to_string();
        assert!(refused.contains("10000 share links"), "{refused}");
    }

    #[test]
    fn an_account_has_so_many_retention_rules() {
        let (store, actor, folder) = one_folder();
        let new = CreateRetentionRule {
            folder_id: folder,
            delete_after_days: 1,
            name: "n".to_owned(),
        };
        let make = || store.write(|tx| tx.create_retention_rule(&actor, &new));
        for _ in 0..1_000 {
            make().unwrap();
        }
        let refused = make().unwrap_err().to_string();
        assert!(refused.contains("1000 retention rules"), "{refused}");
    }

    #[test]
    fn a_node_has_so_many_comments() {
        let (store, actor, folder) = one_folder();
        add(
            &store,
            &actor,
            9_999,
            "INSERT INTO comments (id, node, account, body, created_at) SELECT CAST(CAST(n AS TEXT) AS BLOB), \
             (SELECT id FROM nodes), CAST(?1 AS BLOB), 'x', 0 FROM numbers",
        );
        let comment = || store.write(|tx| tx.add_comment(&actor, folder, None, "y"));
        comment().unwrap();
        let refused = comment().unwrap_err().to_string();
        assert!(refused.contains("10000 comments"), "{refused}");
    }
}
