//! Tools that ask nobody: arithmetic over results, and command lines.

use crate::cli_command;
use crate::compute;
use crate::param::{anything, choice, list, object, text, texts};
use crate::tool::{Effect, Need, Run, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "compute",
        "Compute",
        Effect::Reads,
        "Calculates over values: use it for sums, filters and tables instead of doing them yourself.",
        &[
            choice("operation", compute::OPERATIONS, "What").required(),
            list("values", "Numbers, or objects for filter, sort, format_table"),
            text("field", "Field of the objects"),
            choice("filter_op", compute::COMPARISONS, "Required for filter"),
            anything("filter_value", "Required for filter"),
            choice("sort_order", &["asc", "desc"], "Order").or("asc"),
            texts("columns", "Of format_table; those of the first row if omitted"),
        ],
        Run::Local(compute::run),
    )
    .needs(&[
        Need {
            when: ("operation", "filter"),
            argument: "filter_op",
        },
        Need {
            when: ("operation", "filter"),
            argument: "filter_value",
        },
    ]),
    Tool::new(
        "generate_cli_command",
        "Generate CLI command",
        Effect::Reads,
        "Writes the command line that does something, with examples and flags.",
        &[
            choice("operation", cli_command::OPERATIONS, "What").required(),
            text("file_path", "Path on this machine, or on the service"),
            text("file_uuid", "File or folder"),
            text("target_folder_uuid", "Folder"),
            text("query", "What to search, or a folder name for mkdir"),
            object("options", "Flags with values"),
        ],
        Run::Local(cli_command::run),
    ),
];
