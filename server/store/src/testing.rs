//! Stores of tests: in memory, or in a schema of their own in the database of PostgreSQL that `CAIRN_TEST_POSTGRES`
//! names (`cargo xtask test` runs them against both). And what most of them begin with: an account, and a folder.

use crate::{Account, Actor, Limits, NewAccount, NewFolder, PostgresUrl, Source, Store};
use cairn_model::{Name, NodeId};
use std::sync::Arc;

/// Opens an empty store.
pub(crate) fn open(source: Arc<Source>) -> Store {
    let Ok(url) = std::env::var("CAIRN_TEST_POSTGRES") else {
        return Store::open(None, source).unwrap();
    };
    let schema = uuid::Uuid::new_v4().simple();
    let url = PostgresUrl(format!("{url}?options=-csearch_path%3Dtest_{schema}"));
    Store::open_postgres(&url, None, source).unwrap()
}

/// Adds an account with the limits of a new one.
pub(crate) fn add_account(store: &Store, email: &str) -> Account {
    let new = NewAccount {
        email,
        password: "hash",
        limits: Limits::default(),
    };
    store.add_account(&new).unwrap()
}

/// Adds an account, which acts in its own space.
pub(crate) fn add_actor(store: &Store) -> Actor {
    let account = add_account(store, "a@example.com");
    Actor {
        account: account.id,
        device: None,
        space: account.space,
    }
}

/// Makes a folder at the top of the actor's space.
pub(crate) fn make_folder(store: &Store, actor: &Actor, name: &str) -> NodeId {
    let folder = NewFolder {
        id: None,
        parent: None,
        name: Name::new(name).unwrap(),
        seal: None,
    };
    let made = store.write(|tx| tx.create_folder(actor, &folder)).unwrap();
    made.0.id
}
