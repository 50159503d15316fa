//! The bounds of fields, each once: the OpenAPI document has them from here, and so do the handlers that
//! ask again because the document can't say all of it, or because they trim a text first.
//!
//! Lengths of texts are in characters, amounts in hundredths.

pub(crate) const NODE_DESCRIPTION: usize = 10_000;
/// Labels of a node, and as many tags.
pub(crate) const LABELS: usize = 100;
/// The key or the value of a label, or a tag.
pub(crate) const LABEL: usize = 255;
/// Changes or nodes on one page.
pub(crate) const CHANGES_PAGE: u32 = 1_000;
/// Operations of one batch.
pub(crate) const OPERATIONS: usize = 1_000;
pub(crate) const COMMENT: usize = 5_000;
pub(crate) const CHAT_MESSAGE: usize = 4_000;

pub(crate) const RETENTION_NAME: usize = 255;
pub(crate) const RETENTION_DAYS: u32 = 36_500;

/// The document counts characters, and the hash takes as many bytes.
pub(crate) const PASSWORD: usize = 72;
/// An API key, a service account or a device.
pub(crate) const CREDENTIAL_NAME: usize = 100;
pub(crate) const TEAM_NAME: usize = 255;
/// Grants in one request.
pub(crate) const GRANTS: usize = 1_000;

/// Links made at once.
pub(crate) const LINKS: usize = 20;
/// Files that one request puts into a link.
pub(crate) const LINK_FILES: usize = 500;
/// Addresses that a link is for.
pub(crate) const LINK_EMAILS: usize = 20;
pub(crate) const LINK_DAYS: u32 = 3_650;
/// Nine seconds: a link that opens for less has expired before anybody follows it.
pub(crate) const LINK_LEAST_DAYS: f64 = 0.0001;
/// The document counts characters, and the hash takes as many bytes.
pub(crate) const LINK_PASSWORD: usize = 72;
pub(crate) const EMAIL: usize = 254;

/// The name that a profile or a link's page shows.
pub(crate) const DISPLAY_NAME: usize = 100;
pub(crate) const BIO: usize = 500;
pub(crate) const URL: usize = 2_000;
/// Users followed at once.
pub(crate) const FOLLOWED: usize = 20;
pub(crate) const REPORT_DETAILS: usize = 1_000;

pub(crate) const TIP_MESSAGE: usize = 1_000;
pub(crate) const TIP: i64 = 1_000_000;
pub(crate) const DEPOSIT: i64 = 1_000_000;
pub(crate) const WITHDRAWAL: i64 = 10_000_000;
pub(crate) const PLAN_NAME: usize = 100;
pub(crate) const PLAN_DESCRIPTION: usize = 500;
pub(crate) const PLAN_PRICE: i64 = 1_000_000;
pub(crate) const BUDGET: i64 = 100_000_000;
