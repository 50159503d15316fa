//! The audit log of share links.

use crate::param::{moment, on, said};
use crate::tool::{Effect, Run, Tool, get};

pub(super) const TOOLS: &[Tool] = &[Tool::new(
    "get_share_audit_log",
    "Get share audit log",
    Effect::Reads,
    "Shows accesses of a share link in a time range, with a summary.",
    &[
        said("short_code", "Short code or UUID of the link").required(),
        moment("date_from", "ISO 8601"),
        moment("date_to", "ISO 8601"),
        on("include_summary", "With totals"),
    ],
    Run::Rest(get("shares/{short_code}/audit")),
)];
