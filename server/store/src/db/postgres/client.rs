//! A connection to PostgreSQL, with a cache of its statements.

use super::super::connection::{Begin, Notification};
use super::super::error::{Error, Result};
use super::super::params::Params;
use super::super::value::ValueRef;
use super::tls;
use super::translate::translate;
use super::types::{Column, Parameter};
use super::wait::{run, runtime_handle, send_only, wait};
use futures_util::{StreamExt as _, TryStreamExt as _};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::str::FromStr as _;
use std::time::Duration;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Config, Row, Statement};

/// Statements that a connection keeps.
const KEPT_STATEMENTS: usize = 1024;

/// A row of an answer.
pub(crate) struct PgRow(Row);

/// A connection, or the way to one.
pub(in crate::db) struct Client {
    config: Config,
    open: OnceCell<tokio_postgres::Client>,
    statements: RefCell<HashMap<String, Statement>>,
    /// True once something failed in the open transaction, which then can't be committed.
    has_failed: Cell<bool>,
}

/// Reads the address of a database. It may name several machines, of which one has the database to write to.
pub(super) fn config(url: &str) -> Result<Config> {
    let mut config = Config::from_str(url)?;
    config.application_name("cairn-server");
    config.connect_timeout(Duration::from_secs(5));
    config.keepalives_idle(Duration::from_secs(10));
    config.tcp_user_timeout(Duration::from_secs(10));
    tls::choose(&mut config);
    if config.get_hosts().len() > 1 {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    Ok(config)
}

impl Client {
    /// Reads the address of a database. The connection is made by the first transaction.
    pub(in crate::db) fn new(url: &str) -> Result<Self> {
        Ok(Self {
            config: config(url)?,
            open: OnceCell::new(),
            statements: RefCell::default(),
            has_failed: Cell::new(false),
        })
    }

    fn connect(&self) -> Result<tokio_postgres::Client> {
        let config = self.config.clone();
        let (client, mut messages) = run(async move { tls::connect(&config).await })??;
        runtime_handle()?.spawn(async move {
            // Notices of the database are not listened to; what has broken is not asked again.
            while let Some(message) = messages.next().await {
                if let Err(error) = message {
                    tracing::warn!(%error, "a connection to the database broke");
                    return;
                }
            }
        });
        wait(client.batch_execute(SESSION))?;
        Ok(client)
    }

    /// Returns the open connection.
    fn client(&self) -> Result<&tokio_postgres::Client> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let fresh = self.connect()?;
        Ok(self.open.get_or_init(|| fresh))
    }

    /// Begins a transaction, on another connection if this one has broken: nothing was done on it yet.
    pub(in crate::db) fn begin(&mut self, kind: Begin) -> Result<()> {
        let sql = match kind {
            Begin::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Begin::Write => BEGIN_WRITE,
        };
        self.has_failed.set(false);
        match self.execute_batch(sql) {
            Err(error) if self.forget_broken() => {
                tracing::warn!(%error, "connecting to the database again");
                self.execute_batch(sql)
            }
            done => done,
        }
    }

    /// Gives up a connection that has broken, or was never made: the next statement makes another one. Returns false for
    /// one that works.
    pub(in crate::db) fn forget_broken(&mut self) -> bool {
        let is_broken = self.is_broken();
        if is_broken {
            self.open = OnceCell::new();
            self.statements.get_mut().clear();
            self.has_failed.set(false);
        }
        is_broken
    }

    fn is_broken(&self) -> bool {
        self.open
            .get()
            .is_none_or(tokio_postgres::Client::is_closed)
    }

    /// Ends a transaction, with a notification of those who listen to a channel. The database takes the end of one that
    /// has failed without a word, and keeps nothing of it.
    pub(in crate::db) fn commit(&self, notification: Option<&Notification>) -> Result<()> {
        if self.has_failed.get() {
            self.roll_back();
            return Err(Error::Failed);
        }
        let done = match notification {
            None => self.execute_batch("COMMIT"),
            Some(Notification { channel, payload }) => {
                let payload = payload.replace('\'', "''");
                self.execute_batch(&format!("NOTIFY {channel}, '{payload}'; COMMIT"))
            }
        };
        if done.is_err() {
            self.roll_back();
        }
        done
    }

    /// Gives up a transaction without waiting: what follows on this connection comes after it.
    pub(in crate::db) fn roll_back(&self) {
        if let Some(client) = self.open.get() {
            send_only(client.batch_execute("ROLLBACK"));
        }
    }

    pub(in crate::db) fn execute_batch(&self, sql: &str) -> Result<()> {
        let client = self.client()?;
        self.noting(wait(client.batch_execute(sql)))
    }

    /// Prepares a statement, or takes it out of the cache.
    pub(in crate::db) fn prepare(&self, sql: &str) -> Result<Statement> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let client = self.client()?;
        let prepared = self.noting(wait(client.prepare(&translate(sql))))?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= KEPT_STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Runs a statement and returns the number of rows that it changed.
    pub(in crate::db) fn execute(
        &self,
        statement: &Statement,
        params: &impl Params,
    ) -> Result<usize> {
        let bound = bind(statement, params)?;
        let client = self.client()?;
        let changed = self.noting(wait(client.execute_raw(statement, bound)))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a statement and returns all of its rows.
    pub(in crate::db) fn query(
        &self,
        statement: &Statement,
        params: &impl Params,
    ) -> Result<Vec<PgRow>> {
        let bound = bind(statement, params)?;
        let client = self.client()?;
        self.noting(wait(async {
            let rows = client.query_raw(statement, bound).await?;
            rows.map_ok(PgRow).try_collect().await
        }))
    }

    fn noting<T>(&self, done: Result<T, tokio_postgres::Error>) -> Result<T> {
        if done.is_err() {
            self.has_failed.set(true);
        }
        Ok(done?)
    }
}

fn bind<'a>(statement: &Statement, params: &'a impl Params) -> Result<Vec<Parameter<'a>>> {
    let (expected, given) = (statement.params().len(), params.count());
    if expected != given {
        return Err(Error::ParameterCount { expected, given });
    }
    (0..given)
        .map(|index| params.value(index).map(Parameter))
        .collect()
}

impl PgRow {
    /// Returns a column where it lies.
    pub(in crate::db) fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        let Column(value) = self.0.try_get(column)?;
        Ok(value)
    }
}

/// A writer that has stopped must not keep the others waiting.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '10s'; SET bytea_output = 'hex'; \
     SET client_min_messages = 'warning'; SET jit = off";

/// One writes at a time, on whatever node, as in SQLite. Each statement sees what was committed before the lock was
/// given: the isolation has to be this one, since a snapshot for the whole transaction would be older than the lock.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
     SELECT pg_advisory_xact_lock(hashtext('cairn write'), hashtext(current_schema()))";
