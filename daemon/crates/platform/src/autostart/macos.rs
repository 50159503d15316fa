//! A LaunchAgent in the user's library.

use super::Autostart;
use crate::atomic_write::{FileMode, write_atomic};
use crate::disk::in_context;
use std::io;
use std::path::PathBuf;

/// The directory of this user's agents.
pub(super) struct Locations {
    agents: PathBuf,
}

#[cfg(target_os = "macos")]
pub(super) fn locations() -> io::Result<Locations> {
    let home = std::env::home_dir().ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "this user has no home directory")
    })?;
    Ok(Locations {
        agents: home.join("Library/LaunchAgents"),
    })
}

impl Locations {
    fn agent(&self, autostart: &Autostart) -> PathBuf {
        self.agents.join(format!("{}.plist", autostart.id))
    }
}

pub(super) fn enable(autostart: &Autostart, locations: &Locations) -> io::Result<String> {
    let agent = locations.agent(autostart);
    std::fs::create_dir_all(&locations.agents)
        .map_err(|e| in_context("make the directory", &locations.agents, e))?;
    write_atomic(
        &agent,
        property_list(autostart).as_bytes(),
        FileMode::Inherit,
    )?;
    Ok(format!("wrote {}", agent.display()))
}

pub(super) fn disable(autostart: &Autostart, locations: &Locations) -> io::Result<()> {
    let agent = locations.agent(autostart);
    match std::fs::remove_file(&agent) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(in_context("remove", &agent, e)),
        _ => Ok(()),
    }
}

pub(super) fn is_enabled(autostart: &Autostart, locations: &Locations) -> bool {
    locations.agent(autostart).exists()
}

fn property_list(autostart: &Autostart) -> String {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let arguments: String = autostart
        .command()
        .iter()
        .map(|word| format!("    <string>{}</string>\n", escape(word)))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{arguments}  </array>\n  \
         <key>RunAtLoad</key>\n  <true/>\n  <key>ProcessType</key>\n  \
         <string>Background</string>\n</dict>\n</plist>\n",
        escape(&autostart.id)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;
    use std::path::Path;

    #[test]
    fn an_agent_is_written_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let locations = Locations {
            agents: dir.path().join("LaunchAgents"),
        };
        let autostart = Autostart::new(
            Path::new("/Applications/A&B/cairn"),
            &Home::at(Path::new("/x")),
        );
        enable(&autostart, &locations).unwrap();
        assert!(is_enabled(&autostart, &locations));
        let text = std::fs::read_to_string(locations.agent(&autostart)).unwrap();
        assert!(
            text.contains("<string>/Applications/A&amp;B/cairn</string>"),
            "{text}"
        );
        assert!(text.contains("<string>daemon</string>"), "{text}");
        disable(&autostart, &locations).unwrap();
        disable(&autostart, &locations).unwrap();
        assert!(!is_enabled(&autostart, &locations));
    }
}
