//! `cairn info`: everything about one file or folder of the service.

use crate::app::App;
use crate::failure::CommandResult;
use crate::output::node::NodeView;
use crate::output::text::{clean, local_time, size};
use crate::remote::{Remote, Within};
use cairn_model::Kind;

/// Show everything about a file or folder on the service
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// A path such as /a/b, or an id
    node: String,
    #[command(flatten)]
    within: Within,
}

pub(super) async fn run(app: &App, args: Args) -> CommandResult {
    let remote = Remote::open_at(app, &args.within, &args.node).await?;
    let node = remote.find(&args.node).await?.node()?;
    let path = remote.path_of(&node, &mut Default::default()).await?;
    let verified = remote.is_verified(&node);
    let view = NodeView::new(&node, path);
    let line =
        |name: &str, value: String| app.out.line(format_args!("{name:<12} {}", clean(&value)));
    line("path", view.path.clone());
    line("kind", view.kind.as_str().to_owned());
    line("id", view.id.to_string());
    if view.kind == Kind::File {
        line("size", format!("{} ({} bytes)", size(view.size), view.size));
        line(
            "revision",
            view.revision_id
                .map(|id| id.to_string())
                .unwrap_or_default(),
        );
        line("type", view.mime_type.clone().unwrap_or_default());
        line("executable", view.executable.to_string());
    }
    if let Some(at) = view.modified_at {
        line("modified", local_time(at.0, &app.zone));
    }
    line("created", local_time(view.created_at.0, &app.zone));
    line("changed", local_time(view.updated_at.0, &app.zone));
    line(
        "verified",
        if verified {
            "yes"
        } else {
            "no: last changed by a client without the keys"
        }
        .to_owned(),
    );
    if !view.description.is_empty() {
        line("description", view.description.clone());
    }
    if !view.tags.is_empty() {
        line("tags", view.tags.join(", "));
    }
    for (key, value) in &view.labels {
        line("label", format!("{key}: {value}"));
    }
    let mut document = serde_json::to_value(&view).unwrap_or_default();
    document["verified"] = verified.into();
    app.out.json(&document);
    Ok(())
}
