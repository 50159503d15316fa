//! Tools without any request: arithmetic over results, and command lines.

use crate::cli_command;
use crate::compute;
use crate::param::{any_value, choice, list, object, text, texts};
use crate::tool::{Effect, Requirement, Run, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(
        "compute",
        "Compute",
        Effect::ReadOnly,
        "Calculates over values: adds up, averages, filters, sorts, formats tables; use it instead of doing so yourself.",
        &[
            choice("operation", compute::OPERATIONS, "Operation").required(),
            list("values", "Numbers, or objects for filter, sort, format_table"),
            text("field", "Field of the objects"),
            choice("filter_op", compute::COMPARISONS, "Required for filter"),
            any_value("filter_value", "Required for filter"),
            choice("sort_order", &["asc", "desc"], "Order").or("asc"),
            texts("columns", "Of format_table; those of the first row if omitted"),
        ],
        Run::Local(compute::run),
    )
    .requirements(&[
        Requirement {
            when: ("operation", "filter"),
            argument: "filter_op",
        },
        Requirement {
            when: ("operation", "filter"),
            argument: "filter_value",
        },
    ]),
    Tool::new(
        "generate_cli_command",
        "Generate CLI command",
        Effect::ReadOnly,
        "Writes a command line, with examples and flags.",
        &[
            choice("operation", cli_command::OPERATIONS, "Operation").required(),
            text("file_path", "Path on this machine, or on the service"),
            text("file_uuid", "File or folder"),
            text("target_folder_uuid", "Folder"),
            text("query", "Search text, or a folder name for mkdir"),
            object("options", "Flags with values"),
        ],
        Run::Local(cli_command::run),
    ),
];
