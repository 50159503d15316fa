//! Facts that the assistant is asked about, its cost, and the check before classification.

use super::rows::{NODE_COLUMNS, NODE_TABLES, media, name_of, node_row};
use super::usage::month;
use super::{Actor, Space, Store, Tx, nodes};
use crate::catalog::{ai_files, included_ai_tokens};
use crate::db::{self, Connection, params};
use crate::error::{Error, Result};
use crate::payments::plan_of;
use crate::revisions::to_signed;
use cairn_model::{AccountId, Category, Kind, NodeId};
use cairn_wire::Timestamp;
use cairn_wire::ai::AiUse;
use cairn_wire::nodes::Node;
use cairn_wire::payments::Plan;
use std::collections::BTreeMap;

/// Files that the assistant lists at most.
const LISTED: u32 = 10;
/// Untouched for so long, a file counts as stale.
const STALE_MS: i64 = 90 * 86_400_000;

/// An account's use of the assistant in a calendar month.
pub struct MonthOfAi {
    /// `2026-01`
    pub month: String,
    pub plan: Plan,
    /// Files that the plan lets classify in a month; none: without a limit.
    pub files_limit: Option<u64>,
    /// Tokens that the plan includes.
    pub included: u64,
    /// Tokens taken from bought packs.
    pub purchased: u64,
    pub by_kind: BTreeMap<String, AiUse>,
}

/// A file as the assistant names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    pub name: String,
    pub size: u64,
    pub modified_at: Timestamp,
}

/// Everything that the assistant knows: the caller's own metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub files: u64,
    pub folders: u64,
    pub trashed: u64,
    pub by_category: BTreeMap<Category, u64>,
    pub largest: Vec<NamedFile>,
    pub stale: Vec<NamedFile>,
    pub stale_count: u64,
    pub recent: Vec<NamedFile>,
    pub share_links: u64,
    pub favorites: u64,
}

fn usage(conn: &Connection, account: AccountId, now: i64) -> Result<BTreeMap<String, AiUse>> {
    Ok(conn
        .prepare_cached(
            "SELECT kind, requests, files, tokens FROM ai_usage WHERE account = ?1 AND month = ?2 ORDER BY kind",
        )?
        .query_map(params![account.as_bytes(), month(now)], |row| {
            Ok((
                row.get(0)?,
                AiUse {
                    requests: row.get(1)?,
                    files: row.get(2)?,
                    tokens: row.get(3)?,
                },
            ))
        })?
        .collect::<db::Result<_>>()?)
}

/// Returns the tokens of this month, those that were bought aside or alone.
fn tokens_used(conn: &Connection, account: AccountId, now: i64) -> Result<(i64, i64)> {
    Ok(conn
        .prepare_cached(
            "SELECT coalesce(sum(tokens - purchased), 0), coalesce(sum(purchased), 0) FROM ai_usage \
             WHERE account = ?1 AND month = ?2",
        )?
        .query_row(params![account.as_bytes(), month(now)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?)
}

/// Returns what is left of the tokens that the account's plan includes in a month.
pub(crate) fn included_left(conn: &Connection, account: AccountId, now: i64) -> Result<i64> {
    let all = to_signed(included_ai_tokens(plan_of(conn, account)?));
    let (used, _) = tokens_used(conn, account, now)?;
    Ok((all - used).max(0))
}

fn files_named(conn: &Connection, space: Space, rest: &str, since: i64) -> Result<Vec<NamedFile>> {
    let sql = format!(
        "SELECT n.name, n.size, coalesce(n.modified_at, n.updated_at) AS touched FROM nodes n \
         WHERE n.space = ?1 AND n.state = 0 AND n.kind = 0 AND CAST(?2 AS INTEGER) IS NOT NULL {rest} LIMIT {LISTED}"
    );
    Ok(conn
        .prepare_cached(&sql)?
        .query_map(params![space.row, since], |row| {
            Ok(NamedFile {
                name: row.get(0)?,
                size: row.get(1)?,
                modified_at: Timestamp(row.get(2)?),
            })
        })?
        .collect::<db::Result<_>>()?)
}

impl Tx<'_> {
    /// Pays for a use of the assistant: with what the plan includes this month, then with tokens that
    /// were bought.
    ///
    /// # Errors
    /// 402 if both together are less.
    pub fn add_ai_use(&self, account: AccountId, kind: &str, used: AiUse) -> Result<()> {
        let included = included_left(self.conn, account, self.now)?;
        let purchased = (to_signed(used.tokens) - included).max(0);
        if purchased > 0 {
            self.spend_ai_tokens(account, purchased)?;
        }
        self.conn
            .prepare_cached(
                "INSERT INTO ai_usage (account, month, kind, requests, files, tokens, purchased) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
                 ON CONFLICT (account, month, kind) DO UPDATE SET requests = ai_usage.requests + excluded.requests, \
                 files = ai_usage.files + excluded.files, tokens = ai_usage.tokens + excluded.tokens, \
                 purchased = ai_usage.purchased + excluded.purchased",
            )?
            .execute(params![
                account.as_bytes(),
                month(self.now),
                kind,
                used.requests,
                used.files,
                used.tokens,
                purchased
            ])?;
        Ok(())
    }

    /// The files directly in a folder, if classifying all of them is within the month's limit; also
    /// how many may be classified after them.
    ///
    /// # Errors
    /// 404, 400 for a file, 403 beyond the limit.
    pub fn files_to_classify(
        &self,
        actor: &Actor,
        folder: NodeId,
    ) -> Result<(Vec<Node>, Option<u64>)> {
        let found = nodes::active_node(self.conn, actor.space, folder)?.node;
        if found.kind == Kind::File {
            return Err(Error::invalid(format!(
                "`folder_id` {folder} is a file; it has to be a folder"
            )));
        }
        let sql = format!(
            "SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE n.space = ?1 AND n.parent = ?2 AND n.state = 0 \
             AND n.kind = 0 ORDER BY n.name_key, n.id"
        );
        let files: Vec<Node> = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![actor.space.row, folder.as_bytes()], |row| {
                node_row(row).map(|found| found.node)
            })?
            .collect::<db::Result<_>>()?;
        let plan = plan_of(self.conn, actor.account)?;
        let Some(limit) = ai_files(plan) else {
            return Ok((files, None));
        };
        let used = usage(self.conn, actor.account, self.now)?
            .get("classify")
            .map_or(0, |used| used.files);
        let left = limit.saturating_sub(used);
        let wanted = files.len() as u64;
        if wanted > left {
            return Err(Error::Forbidden(format!(
                "the folder has {wanted} files, and the {} plan has {left} of its {limit} classifications left this \
                 month; nothing was classified",
                name_of(&plan)
            )));
        }
        Ok((files, Some(left - wanted)))
    }
}

impl Store {
    /// The account's tier and what it has used of the assistant this month.
    pub fn ai_usage(&self, account: AccountId) -> Result<MonthOfAi> {
        let now = self.source().now_ms();
        self.read(|conn| {
            let (_, purchased) = tokens_used(conn, account, now)?;
            let plan = plan_of(conn, account)?;
            Ok(MonthOfAi {
                month: month(now),
                plan,
                files_limit: ai_files(plan),
                included: included_ai_tokens(plan),
                purchased: u64::try_from(purchased).unwrap_or_default(),
                by_kind: usage(conn, account, now)?,
            })
        })
    }

    /// Returns the facts that the assistant may talk about.
    pub fn facts(&self, account: AccountId, space: Space) -> Result<Facts> {
        let stale_before = self.source().now_ms() - STALE_MS;
        self.read(|conn| {
            let mut facts = Facts::default();
            let mut statement = conn.prepare_cached(
                "SELECT kind, name, state, favorite FROM nodes WHERE space = ?1 AND state < 2",
            )?;
            let mut rows = statement.query([space.row])?;
            while let Some(row) = rows.next()? {
                let (kind, state): (i64, i64) = (row.get(0)?, row.get(2)?);
                if state == 1 {
                    facts.trashed += 1;
                    continue;
                }
                facts.favorites += u64::from(row.get::<bool>(3)?);
                if kind == 1 {
                    facts.folders += 1;
                    continue;
                }
                facts.files += 1;
                let (_, category) = media(Kind::File, &row.get::<String>(1)?);
                *facts
                    .by_category
                    .entry(category.unwrap_or(Category::Other))
                    .or_default() += 1;
            }
            facts.largest = files_named(conn, space, "ORDER BY n.size DESC, n.name_key", 0)?;
            facts.recent = files_named(conn, space, "ORDER BY n.updated_at DESC, n.name_key", 0)?;
            facts.stale = files_named(
                conn,
                space,
                "AND coalesce(n.modified_at, n.updated_at) < ?2 ORDER BY touched, n.name_key",
                stale_before,
            )?;
            facts.stale_count = conn
                .prepare_cached(
                    "SELECT count(*) FROM nodes WHERE space = ?1 AND state = 0 AND kind = 0 \
                     AND coalesce(modified_at, updated_at) < ?2",
                )?
                .query_row(params![space.row, stale_before], |row| row.get(0))?;
            facts.share_links = conn
                .prepare_cached("SELECT count(*) FROM shares WHERE account = ?1 AND is_active = 1")?
                .query_row([account.as_bytes()], |row| row.get(0))?;
            Ok(facts)
        })
    }
}
