//! What a tool is: one declaration gives its schema, its hints, its documentation and what it does.

use crate::call::Call;
use crate::failure::Outcome;
use crate::param::Param;
use futures_util::future::BoxFuture;
use serde_json::Value;

/// One tool, in the order and under the name of the catalogue.
#[derive(Clone, Copy)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) effect: Effect,
    /// It reaches people or systems outside the service.
    pub(crate) open_world: bool,
    /// A person is asked before it runs, where the client can ask one.
    pub(crate) confirm: bool,
    /// Arguments that another one makes necessary.
    pub(crate) needs: &'static [Need],
    pub(crate) run: Run,
}

/// What a call does to the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// Something new, each time.
    Adds,
    /// Something that is there once, however often it is said.
    Sets,
    /// Something is overwritten or taken away; saying it again changes nothing more.
    Replaces,
    /// Something is overwritten, taken away or paid, each time.
    Spends,
}

/// With this value of `when`, `argument` can't be left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) when: (&'static str, &'static str),
    pub(crate) argument: &'static str,
}

/// How a tool does its work.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// One call of the REST API.
    Rest(Route),
    /// The same, if at least one argument besides those in the path is given.
    Update(Route),
    /// Shows with the first, changes with the second if any argument is given.
    ShowOrUpdate(Route, Route),
    /// In this process, without any call.
    Local(fn(&Call) -> Outcome<Value>),
    /// Code of its own.
    Own(fn(Call) -> BoxFuture<'static, Outcome<Value>>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

/// One call of the REST API. Arguments that are not in the path go into the query of a GET or DELETE,
/// and into the body otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// Below `/api/v1`; `{argument}` takes the argument as one segment.
    pub(crate) path: &'static str,
    /// What an argument is called there, where the names differ.
    pub(crate) renamed: &'static [(&'static str, &'static str)],
    /// What is sent besides.
    pub(crate) fixed: &'static [(&'static str, &'static str)],
    /// What to say where the answer has nothing to say.
    pub(crate) done: Option<&'static str>,
}

impl Route {
    const fn new(verb: Verb, path: &'static str) -> Self {
        Self {
            verb,
            path,
            renamed: &[],
            fixed: &[],
            done: None,
        }
    }

    pub(crate) const fn renamed(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.renamed = names;
        self
    }

    pub(crate) const fn fixed(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.fixed = fields;
        self
    }

    pub(crate) const fn done(mut self, text: &'static str) -> Self {
        self.done = Some(text);
        self
    }
}

pub(crate) const fn get(path: &'static str) -> Route {
    Route::new(Verb::Get, path)
}

pub(crate) const fn post(path: &'static str) -> Route {
    Route::new(Verb::Post, path)
}

pub(crate) const fn put(path: &'static str) -> Route {
    Route::new(Verb::Put, path)
}

pub(crate) const fn delete(path: &'static str) -> Route {
    Route::new(Verb::Delete, path)
}

impl Tool {
    pub(crate) const fn new(
        name: &'static str,
        title: &'static str,
        effect: Effect,
        about: &'static str,
        params: &'static [Param],
        run: Run,
    ) -> Self {
        Self {
            name,
            title,
            about,
            params,
            effect,
            open_world: false,
            confirm: false,
            needs: &[],
            run,
        }
    }

    /// It reaches people or systems outside the service.
    pub(crate) const fn open_world(mut self) -> Self {
        self.open_world = true;
        self
    }

    /// It can't be undone, or it costs money.
    pub(crate) const fn confirmed(mut self) -> Self {
        self.confirm = true;
        self
    }

    pub(crate) const fn needs(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
    }

    pub(crate) fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

impl Effect {
    pub(crate) fn reads_only(self) -> bool {
        self == Self::Reads
    }

    pub(crate) fn destroys(self) -> bool {
        matches!(self, Self::Replaces | Self::Spends)
    }

    pub(crate) fn repeats(self) -> bool {
        matches!(self, Self::Reads | Self::Sets | Self::Replaces)
    }
}
