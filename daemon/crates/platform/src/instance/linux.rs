//! The call over the session bus that `tauri-plugin-single-instance` 2 answers.

use crate::timeout::run_with_timeout;
use std::time::Duration;
use zbus::blocking::Connection;

const INTERFACE: &str = "org.SingleInstance.DBus";
/// A running instance responds at once; one that hangs must not make this start hang, too.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn forward_start(program: &str) -> bool {
    let name = format!("{program}.SingleInstance");
    let path = format!("/{}", name.replace('.', "/").replace('-', "_"));
    let call = move || -> zbus::Result<()> {
        let arguments: Vec<String> = std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let dir = std::env::current_dir().unwrap_or_default();
        Connection::session()?.call_method(
            Some(name.as_str()),
            path.as_str(),
            Some(INTERFACE),
            "ExecuteCallback",
            &(arguments, dir.to_string_lossy().as_ref()),
        )?;
        Ok(())
    };
    matches!(run_with_timeout(TIMEOUT, call), Some(Ok(())))
}
