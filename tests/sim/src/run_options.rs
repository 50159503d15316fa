//! Options of a random run, also as words: `devices=3 steps=40 faults crashes private`.

use cairn_model::SyncMode;
use std::str::FromStr;

/// The parameters of a random run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    pub devices: usize,
    /// Events of the run: an action of a user, a pause, a fault, a crash.
    pub steps: usize,
    /// Requests fail now and then.
    pub faults: bool,
    /// Devices are killed, some together with their power.
    pub crashes: bool,
    /// The user works on the first device alone.
    pub one_editor: bool,
    /// Somebody without keys works on the service too, as on its pages.
    pub keyless: bool,
    /// Calls of the disks fail now and then.
    pub bad_disks: bool,
    /// Users work also between any two calls of an engine to its disk.
    pub interference: bool,
    /// The watcher notices everything, and no device is made to look at all of its files: the devices become equal
    /// all the same.
    pub unprompted: bool,
    /// The server's disk loses stored objects, or returns other bytes. The devices send again what they have, so that
    /// one that comes new in the end gets everything.
    pub damaged_objects: bool,
    /// Users change the shared ignore rules. A file that these leave out stays on its device.
    pub rules: bool,
    /// The same in any folder.
    pub nested_rules: bool,
    /// The user of the second device changes what it alone leaves out.
    pub choice: bool,
    /// The disk of the second device ignores case, and names differ by it alone.
    pub ignores_case: bool,
    /// The disk of the second device keeps times in steps of two seconds: edits share them.
    pub coarse_times: bool,
    /// The devices sync with a private space: the server has sealed names.
    pub private: bool,
    /// Each device asks its person about a few deletions, who agrees to them or not, sooner or later.
    pub gate: bool,
    /// Devices leave checkpoints for one another, and compare what they see.
    pub checkpoints: bool,
    /// The second device only sends, or only receives.
    pub mode: SyncMode,
}

impl FromStr for RunOptions {
    type Err = String;

    /// Reads words in any order: numbers with the names of their fields, the names of what may happen, and `upload` or
    /// `download` for the mode.
    fn from_str(words: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for word in words.split_whitespace() {
            let known = options.add(word);
            known.ok_or_else(|| format!("no random run has {word:?}"))?;
        }
        if options.gate && options.damaged_objects {
            // The service alone has what waits: nobody sends it again once it is damaged, and nobody can keep it.
            return Err("what the server loses can't wait for people".to_owned());
        }
        match options.devices > 1 && options.steps > 0 {
            true => Ok(options),
            false => Err(format!("{words:?} lacks devices or steps")),
        }
    }
}

impl RunOptions {
    /// Returns whether rules leave files out on a device.
    pub(crate) fn has_rules(self) -> bool {
        self.rules || self.nested_rules || self.choice
    }

    /// Returns the device, if there is one, whose files nobody but its user changes. Somebody on the service changes
    /// those of each device that receives, and so does its person who keeps what the user has removed.
    pub(crate) fn untouched(self) -> Option<usize> {
        let changes_come = self.keyless || self.gate;
        match self.mode {
            SyncMode::TwoWay => (self.one_editor && !changes_come).then_some(0),
            SyncMode::Upload => Some(1),
            SyncMode::Download => (!changes_come).then_some(0),
        }
    }

    fn add(&mut self, word: &str) -> Option<()> {
        if let Some((name, number)) = word.split_once('=') {
            *self.number(name)? = number.parse().ok()?;
            return Some(());
        }
        match word {
            "upload" => self.mode = SyncMode::Upload,
            "download" => self.mode = SyncMode::Download,
            word => *self.switch(word)? = true,
        }
        Some(())
    }

    fn number(&mut self, name: &str) -> Option<&mut usize> {
        Some(match name {
            "devices" => &mut self.devices,
            "steps" => &mut self.steps,
            _ => return None,
        })
    }

    fn switch(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "faults" => &mut self.faults,
            "crashes" => &mut self.crashes,
            "one_editor" => &mut self.one_editor,
            "keyless" => &mut self.keyless,
            "bad_disks" => &mut self.bad_disks,
            "interference" => &mut self.interference,
            "unprompted" => &mut self.unprompted,
            "damaged_objects" => &mut self.damaged_objects,
            "rules" => &mut self.rules,
            "nested_rules" => &mut self.nested_rules,
            "choice" => &mut self.choice,
            "ignores_case" => &mut self.ignores_case,
            "coarse_times" => &mut self.coarse_times,
            "private" => &mut self.private,
            "gate" => &mut self.gate,
            "checkpoints" => &mut self.checkpoints,
            _ => return None,
        })
    }
}
