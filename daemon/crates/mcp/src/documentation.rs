//! `docs/tools.md`, generated from the catalogue.

use crate::param::{Param, Shape};
use crate::tool::Tool;
use crate::toolset;
use crate::{prompt, resource};
use std::fmt::Write as _;

/// Returns the reference of all tools, resources and prompts as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from(
        "# Tools\n\n\
        What `cairn mcp` offers to AI assistants. This page is generated from the catalogue in \
        `daemon/crates/mcp/src/toolset/`: change it there, then run `cairn mcp --print-tools > docs/tools.md`.\n\n\
        A parameter with * is required. Hints: **R** reads only, **D** destroys or overwrites, **I** repeating it \
        changes nothing more, **W** reaches people or systems outside the service, **C** a person is asked \
        first where the client can ask, **(C)** if the arguments make it necessary.\n\n\
        A file or folder is named by its id, or by its path: `/a/b`, `Team/a/b` in the space of a team, or that on \
        this machine in a synced folder. A path that can mean several files is refused, and not shown in results. \
        In a list, a path that is refused or names nothing fails alone. \
        What lies in the trash is named by its id; results show its `former_path`. A file whose path has characters \
        that nobody sees has the mark `invisible_characters` and no path.\n\n\
        `undo_session` also takes back what was changed by a call whose response was lost, or that was cancelled: \
        the call is noted before its request, and looked at again later. Such a note is in the memory of the server \
        only: what is still open when the server ends, and more than 50 open ones, are forgotten. Changes that are \
        known to be made are in the journal of the session, which outlives it. At a service whose records have no \
        version, for example, a change is made without a note; the results of tools for one file or link say so.\n",
    );
    for set in toolset::ALL {
        let _ = write!(
            out,
            "\n## {} (`{}`, {} tools)\n\n{}.\n\n| Tool | What it does | Parameters | Hints |\n|---|---|---|---|\n",
            set.title,
            set.id,
            set.tools.len(),
            capitalize(set.description)
        );
        for tool in set.tools {
            let params: Vec<_> = tool.params.iter().map(param_line).collect();
            let params = if params.is_empty() {
                "none".to_owned()
            } else {
                params.join("; ")
            };
            let _ = writeln!(
                out,
                "| `{}` | {} | {params} | {} |",
                tool.name,
                cell(tool.description),
                hints(tool)
            );
        }
    }
    out.push_str("\n## Resources\n\n| URI | Content |\n|---|---|\n");
    for fixed in resource::FIXED
        .iter()
        .chain([&resource::SYNC, &resource::TRASH])
    {
        let _ = writeln!(out, "| `{}` | {} |", fixed.uri, fixed.description);
    }
    for template in resource::TEMPLATES {
        let _ = writeln!(out, "| `{}` | {} |", template.uri(), template.description);
    }
    out.push_str("\n## Prompts\n\n| Prompt | Asks the assistant to |\n|---|---|\n");
    for prompt in prompt::ALL {
        let _ = writeln!(out, "| `{}` | {} |", prompt.name, prompt.description);
    }
    out
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn param_line(param: &Param) -> String {
    let star = if param.required { "*" } else { "" };
    let description = cell(param.description);
    format!(
        "`{}`{star} {}: {description}",
        param.name,
        shape(&param.shape)
    )
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Text { min, max, .. } => match (*min, *max) {
            (0 | 1, usize::MAX) => "text".to_owned(),
            (min, usize::MAX) => format!("text of at least {min} characters"),
            (min, max) => format!("text of {min} to {max} characters"),
        },
        Shape::Choice { of, default } => {
            let named: Vec<_> = of
                .iter()
                .map(|choice| {
                    let mark = if *default == Some(*choice) {
                        " (default)"
                    } else {
                        ""
                    };
                    format!(
                        "`{}`{mark}",
                        if choice.is_empty() { "(empty)" } else { choice }
                    )
                })
                .collect();
            named.join(" / ")
        }
        Shape::Integer { min, max, default } => {
            let range = match *max {
                i64::MAX => format!("whole number from {min}"),
                max => format!("whole number {min} to {max}"),
            };
            default.map_or(range.clone(), |default| {
                format!("{range}, default {default}")
            })
        }
        Shape::Number {
            above, min, max, ..
        } => match (above, min, max) {
            (Some(above), ..) => format!("number above {above}"),
            (None, Some(min), Some(max)) => format!("number {min} to {max}"),
            (None, Some(min), None) => format!("number from {min}"),
            (None, None, _) => "number".to_owned(),
        },
        Shape::Flag { default } => match default {
            Some(default) => format!("true or false, default {default}"),
            None => "true or false".to_owned(),
        },
        Shape::MustAccept => "true".to_owned(),
        Shape::Money { .. } => "decimal text".to_owned(),
        Shape::Texts { min, max, .. } => match (*min, *max) {
            (_, usize::MAX) => "list of texts".to_owned(),
            (min, max) => format!("list of {min} to {max} texts"),
        },
        Shape::Choices { of } => {
            let named: Vec<_> = of.iter().map(|choice| format!("`{choice}`")).collect();
            format!("list of {}", named.join(", "))
        }
        Shape::Labels | Shape::Object => "object".to_owned(),
        Shape::List => "list".to_owned(),
        Shape::Any => "any value".to_owned(),
    }
}

fn hints(tool: &Tool) -> String {
    let marks = [
        (tool.effect.is_read_only(), "R"),
        (tool.effect.is_destructive(), "D"),
        (tool.effect.is_idempotent(), "I"),
        (tool.open_world, "W"),
        (tool.confirm, "C"),
        (!tool.confirm && tool.ask.is_some(), "(C)"),
    ];
    let set: Vec<_> = marks
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, mark)| *mark)
        .collect();
    set.join(" ")
}
