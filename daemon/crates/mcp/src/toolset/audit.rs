//! The audit log of share links.

use crate::param::{date_time, flag_on, non_empty};
use crate::tool::{Effect, Run, Tool, get};

pub(super) const TOOLS: &[Tool] = &[Tool::new(
    "get_share_audit_log",
    "Get share audit log",
    Effect::ReadOnly,
    "Shows accesses of a share link in a time range, with a summary.",
    &[
        non_empty("short_code", "Short code or UUID of the link").required(),
        date_time("date_from", "ISO 8601"),
        date_time("date_to", "ISO 8601"),
        flag_on("include_summary", "Include totals"),
    ],
    Run::AllPages(get("shares/{short_code}/audit").pages_from_zero()),
)];
