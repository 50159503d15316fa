//! One row of the acceptance scenarios: a base, what A does, what B does, what both must hold.
//!
//! One side: the daemons run while A works. Concurrent: both are paused, both work, the first resumes
//! and becomes idle, then the second resumes. "Swapped" plays it again with B resuming first.

use crate::device::Options;
use crate::status::Counters;
use crate::world::{Setup, World};
use crate::{Files, Tree};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;

/// The device that commits first in a concurrent scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    A,
    B,
}

type Work = Box<dyn Fn(&Files) -> Result<()>>;
type Check = Box<dyn Fn(&World) -> Result<()>>;

enum Expected {
    /// Exactly this tree.
    Tree(String),
    /// One of these trees.
    AnyOf(Vec<String>),
    /// These contents, each once, wherever they are.
    Contents(Vec<String>),
}

/// A scenario under construction; [`Scenario::run`] plays it.
pub struct Scenario {
    id: &'static str,
    base: String,
    a: Vec<Work>,
    b: Vec<Work>,
    expected: Vec<(Option<First>, Expected)>,
    swapped: bool,
    transfers: Option<(u64, u64)>,
    feed_changes: Option<usize>,
    restart: bool,
    b_options: Options,
    also: Vec<Check>,
}

impl Scenario {
    #[must_use]
    pub fn new(id: &'static str) -> Self {
        Self {
            id,
            base: String::new(),
            a: Vec::new(),
            b: Vec::new(),
            expected: Vec::new(),
            swapped: false,
            transfers: None,
            feed_changes: None,
            restart: false,
            b_options: Options::default(),
            also: Vec::new(),
        }
    }

    /// The script that makes the base on A, which then syncs to B.
    #[must_use]
    pub fn base(mut self, script: impl Into<String>) -> Self {
        self.base = script.into();
        self
    }

    /// The actions on A, as a script.
    #[must_use]
    pub fn a(self, script: impl Into<String>) -> Self {
        let script = script.into();
        self.a_does(move |files| files.run(&script))
    }

    /// The actions on A, as code.
    #[must_use]
    pub fn a_does(mut self, work: impl Fn(&Files) -> Result<()> + 'static) -> Self {
        self.a.push(Box::new(work));
        self
    }

    /// The actions on B, as a script. Makes the scenario a concurrent one.
    #[must_use]
    pub fn b(self, script: impl Into<String>) -> Self {
        let script = script.into();
        self.b_does(move |files| files.run(&script))
    }

    /// The actions on B, as code.
    #[must_use]
    pub fn b_does(mut self, work: impl Fn(&Files) -> Result<()> + 'static) -> Self {
        self.b.push(Box::new(work));
        self
    }

    /// The tree that both must hold, whoever is first.
    #[must_use]
    pub fn expect(mut self, literal: &str) -> Self {
        self.expected
            .push((None, Expected::Tree(literal.to_owned())));
        self
    }

    /// The tree that both must hold if this device was first.
    #[must_use]
    pub fn expect_if_first(mut self, first: First, literal: &str) -> Self {
        self.expected
            .push((Some(first), Expected::Tree(literal.to_owned())));
        self
    }

    /// Trees of which both must hold one, if this device was first.
    #[must_use]
    pub fn expect_any_if_first(mut self, first: First, literals: &[&str]) -> Self {
        let literals = literals.iter().map(|&text| text.to_owned()).collect();
        self.expected.push((Some(first), Expected::AnyOf(literals)));
        self
    }

    /// The contents that both must hold, each exactly once and no others, under any names.
    #[must_use]
    pub fn expect_contents(mut self, contents: &[&str]) -> Self {
        let contents = contents.iter().map(|&text| text.to_owned()).collect();
        self.expected.push((None, Expected::Contents(contents)));
        self
    }

    /// Plays it again with the roles swapped: B resumes first.
    #[must_use]
    pub fn swapped(mut self) -> Self {
        self.swapped = true;
        self
    }

    /// Content transfers over both devices: uploads and downloads.
    #[must_use]
    pub fn transfers(mut self, uploads: u64, downloads: u64) -> Self {
        self.transfers = Some((uploads, downloads));
        self
    }

    /// The number of changes that the server's feed gets: 1 for the move or deletion of a whole folder.
    #[must_use]
    pub fn feed_changes(mut self, changes: usize) -> Self {
        self.feed_changes = Some(changes);
        self
    }

    /// Kills and restarts both daemons between the operations and the sync.
    #[must_use]
    pub fn restarted_before_sync(mut self) -> Self {
        self.restart = true;
        self
    }

    /// The options of device B.
    #[must_use]
    pub fn b_options(mut self, options: Options) -> Self {
        self.b_options = options;
        self
    }

    /// One more thing that must hold at the end.
    #[must_use]
    pub fn also(mut self, check: impl Fn(&World) -> Result<()> + 'static) -> Self {
        self.also.push(Box::new(check));
        self
    }

    /// Plays it in every order that it has.
    ///
    /// # Panics
    /// With all that does not hold.
    pub fn run(self) {
        let orders: &[First] = if self.swapped {
            &[First::A, First::B]
        } else {
            &[First::A]
        };
        let mut failures = String::new();
        for &first in orders {
            if let Err(error) = self.play(first) {
                let _ = writeln!(failures, "{} ({first:?} first): {error:#}", self.id);
            }
        }
        assert!(failures.is_empty(), "{failures}");
    }

    fn play(&self, first: First) -> Result<()> {
        let mut world = World::with(Setup {
            b: self.b_options.clone(),
            ..Setup::default()
        })?;
        world.base(&self.base)?;
        let (before, cursor) = (world.counters()?, world.server.service().cursor()?);
        if self.b.is_empty() && !self.restart {
            work(&self.a, world.a.files())?;
        } else {
            self.concurrently(&mut world, first)?;
        }
        world.settle()?;
        if let Some(wanted) = self.transfers {
            self.count_transfers(wanted, before, world.counters()?)?;
        }
        if let Some(wanted) = self.feed_changes {
            let changes = world.server.service().changes_since(&cursor)?;
            if changes != wanted {
                bail!("the server's feed has {changes} changes, expected {wanted}");
            }
        }
        self.check_tree(&world, first)?;
        world.steady()?;
        for check in &self.also {
            check(&world)?;
        }
        world.finish()
    }

    fn concurrently(&self, world: &mut World, first: First) -> Result<()> {
        world.a.pause()?;
        world.b.pause()?;
        match first {
            First::A => {
                work(&self.a, world.a.files())?;
                work(&self.b, world.b.files())?;
            }
            First::B => {
                work(&self.b, world.b.files())?;
                work(&self.a, world.a.files())?;
            }
        }
        if self.restart {
            world.a.kill9()?;
            world.b.kill9()?;
        }
        let (one, two) = match first {
            First::A => (&mut world.a, &mut world.b),
            First::B => (&mut world.b, &mut world.a),
        };
        for device in [one, two] {
            if self.restart {
                device.start()?;
            }
            device.resume()?;
            device.wait_idle()?;
        }
        Ok(())
    }

    fn count_transfers(
        &self,
        wanted: (u64, u64),
        before: (Counters, Counters),
        after: (Counters, Counters),
    ) -> Result<()> {
        let (a, b) = (after.0 - before.0, after.1 - before.1);
        let done = (a.uploads + b.uploads, a.downloads + b.downloads);
        if done != wanted {
            bail!(
                "{} uploads and {} downloads, expected {} and {}; A did {a:?}, B did {b:?}",
                done.0,
                done.1,
                wanted.0,
                wanted.1
            );
        }
        Ok(())
    }

    fn check_tree(&self, world: &World, first: First) -> Result<()> {
        let tree = world.equal()?;
        let mut checked = false;
        for (when, expected) in &self.expected {
            if when.is_none_or(|when| when == first) {
                checked = true;
                expected
                    .check(&tree)
                    .context("A and B agree on something else than expected")?;
            }
        }
        if !checked {
            bail!("the scenario expects nothing of this order: a mistake in the test");
        }
        Ok(())
    }
}

impl Expected {
    fn check(&self, tree: &Tree) -> Result<()> {
        match self {
            Self::Tree(literal) => match Tree::literal(literal).difference(tree) {
                Some(difference) => bail!("\n{difference}"),
                None => Ok(()),
            },
            Self::AnyOf(literals) => {
                if literals
                    .iter()
                    .all(|literal| Tree::literal(literal).difference(tree).is_some())
                {
                    bail!("none of {literals:?}, but\n{tree}");
                }
                Ok(())
            }
            Self::Contents(contents) => {
                let all = tree.files().count() == contents.len();
                if !all
                    || contents
                        .iter()
                        .any(|content| tree.count_of(content.as_bytes()) != 1)
                {
                    bail!("not exactly the contents {contents:?}, but\n{tree}");
                }
                Ok(())
            }
        }
    }
}

fn work(steps: &[Work], files: &Files) -> Result<()> {
    steps.iter().try_for_each(|step| step(files))
}
