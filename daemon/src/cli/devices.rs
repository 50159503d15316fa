//! `cairn devices`: the devices of the account.

use crate::app::App;
use crate::failure::{Doing as _, Outcome};
use crate::output::table::{Align, Table};
use crate::output::text::clean;
use serde_json::json;

/// Show the devices that are logged in to the account
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

pub(super) async fn run(app: &App, _: Args) -> Outcome {
    let session = app.session()?;
    let devices = session
        .api
        .devices()
        .await
        .doing("ask the server for the devices")?;
    let here = session.account.device;
    let mut table = Table::new(&[("NAME", Align::Left), ("ID", Align::Left)]);
    for device in &devices {
        let mark = if device.id == here {
            " (this device)"
        } else {
            ""
        };
        table.row([
            format!("{}{mark}", clean(&device.name)),
            device.id.to_string(),
        ]);
    }
    table.print(&app.out, "No device is known.");
    let devices: Vec<_> = devices
        .iter()
        .map(|device| json!({ "id": device.id, "name": device.name, "this": device.id == here }))
        .collect();
    app.out.json(&json!({ "devices": devices }));
    Ok(())
}
