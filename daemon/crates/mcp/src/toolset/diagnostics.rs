//! Diagnosis of uploads, links, encryption and the service.

use crate::health;
use crate::param::{integer, non_empty};
use crate::recovery;
use crate::tool::{Effect, Run, Tool, get};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "diagnose_upload",
        "Diagnose upload",
        Effect::ReadOnly,
        "Checks whether a file of a size can be uploaded: quota, bandwidth, file count.",
        &[integer(
            "file_size_bytes",
            0,
            "Size; the general state if omitted",
        )],
        Run::Rest(get("diagnostics/upload")),
    ),
    Tool::new(
        "check_share_link_health",
        "Check share link health",
        Effect::ReadOnly,
        "Checks a share link for problems.",
        &[non_empty("short_code", "Short code or UUID of the link").required()],
        Run::Rest(get("shares/{short_code}/health")),
    ),
    Tool::new(
        "verify_encryption_status",
        "Verify encryption status",
        Effect::ReadOnly,
        "Checks why encrypted files can't be opened: keys, passphrase, recovery key; recommends what to do.",
        &[],
        Run::Custom(recovery::encryption_status),
    ),
    Tool::new(
        "check_service_health",
        "Check service health",
        Effect::ReadOnly,
        "Checks that the service responds, and how fast.",
        &[],
        Run::Custom(health::check),
    ),
];
