//! The results as a table: each figure, the ratio to each peer of the same run, the target.

use crate::machine;
use crate::peer::Tool;
use anyhow::Result;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measure {
    Seconds,
    /// Bytes on the wire, both ways.
    Wire,
    PeakMemory,
    IdleMemory,
    /// Percent of one core.
    IdleCpu,
    /// Responses a second: more is better.
    PerSecond,
}

/// The figure that a row has to reach at the full amount of data.
enum Target {
    AtMost(f64),
    /// At most this many times the figure of a peer.
    Times(Tool, f64),
}

/// All figures of a run, in the order in which they were measured.
#[derive(Debug, Default)]
pub(crate) struct Results(Vec<Figure>);

#[derive(Debug)]
struct Figure {
    row: &'static str,
    measure: Measure,
    tool: Tool,
    value: f64,
}

const MIB: f64 = 1024.0 * 1024.0;

/// The targets, by the beginning of a row's title.
fn targets(row: &str, measure: Measure) -> Vec<Target> {
    let small = row.starts_with("10,000 small files");
    match measure {
        Measure::Seconds if small && row.ends_with("up") => {
            vec![Target::Times(Tool::Restic, 1.0), Target::AtMost(2.1)]
        }
        Measure::Seconds if small && row.ends_with("A to B") => {
            vec![Target::Times(Tool::Syncthing, 0.5)]
        }
        Measure::Seconds if row.starts_with("one file of 1 GiB") => {
            vec![Target::Times(Tool::Rclone, 1.0), Target::AtMost(5.0)]
        }
        Measure::Seconds if row.starts_with("16 bytes") => vec![Target::AtMost(2.0)],
        Measure::Seconds if row.starts_with("one new small file") => vec![Target::AtMost(0.5)],
        Measure::Seconds if row.starts_with("a folder of") => vec![Target::AtMost(2.0)],
        Measure::Seconds if row.starts_with("a restart") => vec![Target::AtMost(5.0)],
        Measure::Wire if row.starts_with("16 bytes") => vec![Target::AtMost(2_000_000.0)],
        Measure::Wire if row.starts_with("a folder of") => vec![Target::AtMost(100_000.0)],
        Measure::PeakMemory => vec![Target::AtMost(150.0 * MIB)],
        Measure::IdleMemory => vec![Target::AtMost(100.0 * MIB)],
        Measure::IdleCpu => vec![Target::AtMost(0.5)],
        Measure::Seconds | Measure::Wire | Measure::PerSecond => Vec::new(),
    }
}

impl Results {
    pub(crate) fn add(&mut self, row: &'static str, measure: Measure, tool: Tool, value: f64) {
        eprintln!(
            "   {row}: {}, {} {}",
            tool.title(),
            measure.title(),
            measure.show(value)
        );
        self.0.push(Figure {
            row,
            measure,
            tool,
            value,
        });
    }

    fn value(&self, row: &str, measure: Measure, tool: Tool) -> Option<f64> {
        let found = self
            .0
            .iter()
            .find(|f| f.row == row && f.measure == measure && f.tool == tool);
        found.map(|figure| figure.value)
    }

    /// The whole page in Markdown.
    pub(crate) fn report(&self, scale: f64, peers: &[Tool]) -> Result<String> {
        let mut page = String::from("# Benchmarks\n\n");
        writeln!(
            page,
            "Cairn beside other programs on one machine in one run, over loopback: {}.\n",
            machine::describe()
        )?;
        let versions: Vec<String> = peers.iter().filter_map(|tool| tool.version()).collect();
        if !versions.is_empty() {
            writeln!(page, "Measured against: {}.\n", versions.join("; "))?;
        }
        if scale < 1.0 {
            writeln!(
                page,
                "**Only {} of the full amount of data: targets do not count.**\n",
                scale
            )?;
        }
        writeln!(
            page,
            "| what | measure | Cairn | rclone crypt | restic | Syncthing | target |"
        )?;
        writeln!(page, "|---|---|---|---|---|---|---|")?;
        let mut done: Vec<(&str, Measure)> = Vec::new();
        for figure in &self.0 {
            let line = (figure.row, figure.measure);
            if !done.contains(&line) {
                done.push(line);
                writeln!(page, "{}", self.line(figure.row, figure.measure))?;
            }
        }
        page.push_str(NOTES);
        Ok(page)
    }

    fn line(&self, row: &str, measure: Measure) -> String {
        let own = self.value(row, measure, Tool::Cairn);
        let mut line = format!("| {row} | {} | ", measure.title());
        line.push_str(&own.map_or_else(
            || "–".to_owned(),
            |value| format!("**{}**", measure.show(value)),
        ));
        for peer in Tool::PEERS {
            let cell = match (own, self.value(row, measure, peer)) {
                (Some(own), Some(theirs)) if theirs > 0.0 => {
                    format!("{} (Cairn: {:.2}×)", measure.show(theirs), own / theirs)
                }
                (_, Some(theirs)) => measure.show(theirs),
                (_, None) => "–".to_owned(),
            };
            line.push_str(" | ");
            line.push_str(&cell);
        }
        let verdicts: Vec<String> = targets(row, measure)
            .iter()
            .filter_map(|target| self.comparison(target, row, measure, own?))
            .collect();
        line.push_str(" | ");
        line.push_str(&verdicts.join("; "));
        line.push_str(" |");
        line
    }

    fn comparison(&self, target: &Target, row: &str, measure: Measure, own: f64) -> Option<String> {
        let (limit, text) = match target {
            Target::AtMost(limit) => (*limit, format!("≤ {}", measure.show(*limit))),
            Target::Times(tool, times) => {
                let theirs = self.value(row, measure, *tool)?;
                (theirs * times, format!("≤ {times} × {}", tool.title()))
            }
        };
        Some(format!(
            "{text}: {}",
            if own <= limit { "met" } else { "**missed**" }
        ))
    }
}

impl Measure {
    fn title(self) -> &'static str {
        match self {
            Self::Seconds => "time",
            Self::Wire => "bytes on the wire",
            Self::PeakMemory => "peak memory of the client",
            Self::IdleMemory => "memory when idle",
            Self::IdleCpu => "processor when idle",
            Self::PerSecond => "answers a second",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Seconds if value < 1.0 => format!("{:.0} ms", value * 1000.0),
            Self::Seconds => format!("{value:.2} s"),
            Self::Wire if value < 1_000_000.0 => format!("{:.1} kB", value / 1000.0),
            Self::Wire => format!("{:.2} MB", value / 1_000_000.0),
            Self::PeakMemory | Self::IdleMemory => format!("{:.0} MiB", value / MIB),
            Self::IdleCpu => format!("{value:.2} %"),
            Self::PerSecond => format!("{value:.0}/s"),
        }
    }
}

const NOTES: &str = "
How it is measured: every client reaches its store through a counting TCP proxy on 127.0.0.1, which
costs all of them the same. rclone crypt runs over `rclone serve webdav` with 16 transfers; that store
keeps no modification times, so rclone is told to send the edited file again. restic runs over
`rclone serve restic`. Syncthing runs as installed, discovery and relays off: two nodes without a
server, its default delay of 10 s after a change included, sealed in transit and not at rest. Cairn's
figures contain everything from the change on disk (or the daemon's start) until `cairn status --wait`
returns, or until B's folder holds the files; \"A to B\" counts both ways, to the server and from it.
rclone and restic keep no second device up to date: their renamed folder is measured until it is sent.
Sizes are log-normal and seeded; contents are random. The service's own rows reach it without the proxy;
each read asks for a token's rights and one row of the database, where WebDAV's HEAD asks the file system.
Small files are stored in batches of 256 there, as the clients do, and with one request each over WebDAV.
";

/// Prints the page.
pub(crate) fn print(report: &str) -> Result<()> {
    Ok(io::stdout().write_all(report.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_ratios_and_verdicts() {
        let row = "10,000 small files (200 MB), up";
        let mut results = Results::default();
        results.add(row, Measure::Seconds, Tool::Cairn, 1.5);
        results.add(row, Measure::Seconds, Tool::Restic, 1.0);
        let line = results.line(row, Measure::Seconds);
        assert!(line.contains("1.00 s (Cairn: 1.50×)"), "{line}");
        assert!(
            line.contains("≤ 1 × restic: **missed**; ≤ 2.10 s: met"),
            "{line}"
        );
    }

    #[test]
    fn a_part_of_the_data_is_called_one() {
        let report = Results::default().report(0.1, &[]).unwrap();
        assert!(report.contains("targets do not count"));
    }
}
