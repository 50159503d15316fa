//! The results as a table: each figure, the ratio to each peer (another program measured in the same run), the target.

use crate::machine;
use crate::peer::Tool;
use crate::row::{
    assistant, big, busy, code, deletions, live, long_line, restart, service, small, tree_copy,
};
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
    /// Times a second that a process wakes up while there is nothing to do.
    WakeUps,
    /// Bytes on the wire for each byte of the files.
    WireRatio,
    /// Times as long as a plain copy of the same bytes on the same disk.
    OfCopy,
    /// Percent of the speed of a plain encrypted copy of the same file.
    OfSealedCopy,
    /// Percent of the width of a line.
    OfLine,
    /// Times as fast as one plain connection over the same line.
    OfPlainLine,
    /// Times as long as the bytes and one round trip for each batch take.
    OfBatches,
    /// Seconds that one in a hundred exceeds.
    Slowest,
}

/// The figure that a row has to reach at the full amount of data.
enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// At most this many times the figure of a peer.
    Times(Tool, f64),
    /// At most so many times as slow as another row.
    Flat(&'static str, f64),
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

/// Returns the value in the middle; of an even number of values, the larger one of the two.
pub(crate) fn median(values: Vec<f64>) -> Option<f64> {
    at_percent(values, 50)
}

/// Returns the smallest value that so many percent of the values don't exceed.
pub(crate) fn at_percent(mut values: Vec<f64>, percent: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values
        .get((values.len() * percent / 100).min(last))
        .copied()
}

const MIB: f64 = 1024.0 * 1024.0;

/// The targets, by the beginning of a row's title.
fn targets(row: &str, measure: Measure) -> Vec<Target> {
    use Target::{AtLeast, AtMost, Times};
    match (row, measure) {
        (small::UP, Measure::Seconds) => vec![Times(Tool::Restic, 0.5)],
        (small::DOWN, Measure::Seconds) => vec![Times(Tool::Restic, 0.6)],
        (small::END, Measure::Seconds) => {
            vec![Times(Tool::Syncthing, 0.2), Times(Tool::Unison, 0.8)]
        }
        (big::UP, Measure::Seconds) => vec![Times(Tool::Restic, 0.4)],
        (big::DOWN, Measure::Seconds) => vec![Times(Tool::Restic, 0.5)],
        (big::END, Measure::Seconds) => vec![Times(Tool::Syncthing, 0.5)],
        (big::EDIT, Measure::OfCopy) => vec![AtMost(1.3)],
        (big::EDIT, Measure::Wire) => vec![AtMost(2_000_000.0)],
        (big::UP | big::DOWN | big::END, Measure::OfSealedCopy) => vec![AtLeast(60.0)],
        (long_line::BIG_UP | long_line::BIG_DOWN, Measure::OfLine) => vec![AtLeast(80.0)],
        (_, Measure::OfBatches) => vec![AtMost(2.0)],
        (big::COPY | tree_copy::TITLE, Measure::WireRatio) => vec![AtMost(0.01)],
        (code::UP, Measure::Seconds) => vec![Times(Tool::Restic, 1.0)],
        (code::UP, Measure::Wire) => vec![Times(Tool::Restic, 1.05)],
        (code::UP, Measure::WireRatio) => vec![AtMost(0.3)],
        (deletions::TITLE, Measure::Seconds) => vec![AtMost(3.0)],
        (live::NEW_FILE, Measure::Seconds) => vec![AtMost(0.09)],
        (live::NEW_FILE, Measure::Slowest) => vec![AtMost(0.3)],
        (live::WHILE_BUSY | busy::LIMITED, Measure::Slowest) => vec![AtMost(0.5)],
        (live::RENAME, Measure::Seconds) => vec![AtMost(2.0)],
        (live::RENAME, Measure::Wire) => vec![AtMost(100_000.0)],
        (assistant::TITLE, Measure::Seconds) => vec![AtMost(0.03)],
        (assistant::TITLE, Measure::IdleMemory) => vec![AtMost(18.0 * MIB)],
        (restart::TITLE, Measure::Seconds) => vec![AtMost(5.0)],
        (row, Measure::PerSecond) => flat(row),
        (_, Measure::PeakMemory) => vec![AtMost(150.0 * MIB)],
        (_, Measure::IdleMemory) => vec![AtMost(100.0 * MIB)],
        (_, Measure::IdleCpu) => vec![AtMost(0.5)],
        (_, Measure::WakeUps) => vec![AtMost(1.0)],
        _ => Vec::new(),
    }
}

/// The targets of the service's rows: what it does for a large space takes about as long as for a small one.
fn flat(row: &str) -> Vec<Target> {
    let [small, larger @ ..] = &service::STEPS;
    let rows = larger.iter().flat_map(|step| {
        [
            (step.list, small.list),
            (step.feed, small.feed),
            (step.commit, small.commit),
        ]
    });
    let found = rows.filter(|(title, _)| *title == row);
    found.map(|(_, small)| Target::Flat(small, 1.5)).collect()
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

    /// Returns the median of the runs.
    fn value(&self, row: &str, measure: Measure, tool: Tool) -> Option<f64> {
        let of_row = self
            .0
            .iter()
            .filter(|f| f.row == row && f.measure == measure && f.tool == tool);
        median(of_row.map(|figure| figure.value).collect())
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
        let titles = Tool::PEERS.map(Tool::title).join(" | ");
        writeln!(page, "| what | measure | Cairn | {titles} | target |")?;
        writeln!(
            page,
            "|---|---|---{}|---|",
            "|---".repeat(Tool::PEERS.len())
        )?;
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
            Target::Flat(other, times) => {
                let least = self.value(other, measure, Tool::Cairn)? / times;
                let result = if own >= least { "met" } else { "**missed**" };
                return Some(format!("≥ {}: {result}", measure.show(least)));
            }
            Target::AtLeast(least) => {
                let result = if own >= *least { "met" } else { "**missed**" };
                return Some(format!("≥ {}: {result}", measure.show(*least)));
            }
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
            Self::WakeUps => "wake-ups a second when idle",
            Self::WireRatio => "bytes on the wire for each byte",
            Self::OfCopy => "beside a plain copy of the file",
            Self::OfSealedCopy => "speed beside a plain encrypted copy",
            Self::OfLine => "part of the line",
            Self::OfPlainLine => "speed beside one plain connection",
            Self::OfBatches => "time beside what batches allow",
            Self::Slowest => "time, 99 of 100 are faster",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Seconds | Self::Slowest if value < 1.0 => format!("{:.0} ms", value * 1000.0),
            Self::Seconds | Self::Slowest => format!("{value:.2} s"),
            Self::Wire if value < 1_000_000.0 => format!("{:.1} kB", value / 1000.0),
            Self::Wire => format!("{:.2} MB", value / 1_000_000.0),
            Self::PeakMemory | Self::IdleMemory => format!("{:.0} MiB", value / MIB),
            Self::IdleCpu => format!("{value:.2} %"),
            Self::PerSecond => format!("{value:.0}/s"),
            Self::WakeUps => format!("{value:.1}/s"),
            Self::OfSealedCopy | Self::OfLine => format!("{value:.0} %"),
            Self::WireRatio | Self::OfCopy | Self::OfPlainLine | Self::OfBatches => {
                format!("{value:.2}×")
            }
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
Unison runs in its text mode, not sealed, against a server of its own; its time is that of one command.
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
        assert!(line.contains("≤ 0.5 × restic: **missed**"), "{line}");
    }

    #[test]
    fn a_row_of_a_large_space_is_judged_by_the_small_one() {
        let mut results = Results::default();
        let [small, _, large] = &service::STEPS;
        results.add(small.list, Measure::PerSecond, Tool::Cairn, 3000.0);
        results.add(large.list, Measure::PerSecond, Tool::Cairn, 1999.0);
        let line = results.line(large.list, Measure::PerSecond);
        assert!(line.contains("≥ 2000/s: **missed**"), "{line}");
    }

    #[test]
    fn a_part_of_the_data_is_called_one() {
        let report = Results::default().report(0.1, &[]).unwrap();
        assert!(report.contains("targets do not count"));
    }
}
