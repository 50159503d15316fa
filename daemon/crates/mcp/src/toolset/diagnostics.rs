//! What is wrong, or why something can't be done.

use crate::health;
use crate::param::{said, whole};
use crate::tool::{Effect, Run, Tool, get};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "diagnose_upload",
        "Diagnose upload",
        Effect::Reads,
        "Checks whether a file of a size can be uploaded: quota, bandwidth, file count.",
        &[whole(
            "file_size_bytes",
            0,
            "Size; the general state if omitted",
        )],
        Run::Rest(get("diagnostics/upload")),
    ),
    Tool::new(
        "check_share_link_health",
        "Check share link health",
        Effect::Reads,
        "Checks why a share link may not work.",
        &[said("short_code", "Short code or UUID of the link").required()],
        Run::Rest(get("shares/{short_code}/health")),
    ),
    Tool::new(
        "verify_encryption_status",
        "Verify encryption status",
        Effect::Reads,
        "Checks keys and recovery, and recommends what to do.",
        &[],
        Run::Rest(get("diagnostics/encryption")),
    ),
    Tool::new(
        "check_service_health",
        "Check service health",
        Effect::Reads,
        "Checks whether the service answers, and how fast.",
        &[],
        Run::Own(health::check),
    ),
];
