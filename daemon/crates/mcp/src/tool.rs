//! The declaration of a tool, from which its schema, annotations, documentation and behaviour follow.

use crate::call::{AskFn, Call};
use crate::error::ToolResult;
use crate::param::{Form, Param, Shape};
pub(crate) use crate::session_edit::{NodeEdit, Undo};
use futures_util::future::BoxFuture;
use serde_json::Value;

/// The result of a tool that is a function of its own.
pub(crate) type ToolFuture = BoxFuture<'static, ToolResult<Value>>;

/// A tool of the catalogue.
#[derive(Clone, Copy)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) effect: Effect,
    /// True if it reaches people or systems outside the service.
    pub(crate) open_world: bool,
    /// True if a person confirms it first, where the client can ask.
    pub(crate) confirm: bool,
    /// The question to the person; a general one if there is none. Without [`Self::confirm`] it is asked
    /// only if the call turns out to need it.
    pub(crate) ask: Option<AskFn>,
    /// True if a call about which there is a question is refused where nobody can be asked.
    pub(crate) never_unasked: bool,
    pub(crate) result: ResultForm,
    /// Arguments that another one makes mandatory.
    pub(crate) requirements: &'static [Requirement],
    /// The flag without which a call only shows what the tool would do.
    pub(crate) carried_out_by: Option<&'static str>,
    /// The change that `undo_session` takes back; `None` for a tool that changes nothing, or for good.
    pub(crate) undo: Option<Undo>,
    pub(crate) run: Run,
}

/// The form of a tool's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResultForm {
    /// Fields, and perhaps a list, which is cut where it is too long.
    Plain,
    /// One file or folder with all details: also tags and labels of which there are none.
    Details,
    /// The list in it ends with the newest.
    NewestLast,
    /// The content of a file, which is neither cut nor changed.
    Content,
}

/// The effect of a call, the source of the protocol's hints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Changes nothing.
    ReadOnly,
    /// Creates something, each time.
    Additive,
    /// Creates or sets something; repeating it changes nothing more.
    IdempotentAdditive,
    /// Overwrites or removes something; repeating it changes nothing more.
    IdempotentDestructive,
    /// Overwrites, removes or pays something, each time.
    Destructive,
}

/// Makes `argument` mandatory when another argument has the value in `when`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requirement {
    pub(crate) when: (&'static str, &'static str),
    pub(crate) argument: &'static str,
}

/// The implementation of a tool.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// One request of the REST API.
    Rest(Route),
    /// All pages of a list, as one: for a tool that has no argument for the page.
    AllPages(Route),
    /// One request, which needs at least one argument besides those in the path.
    Update(Route),
    /// The first request, or the second if any argument is given.
    ShowOrUpdate(Route, Route),
    /// A function without any request.
    Local(fn(&Call) -> ToolResult<Value>),
    /// A function of its own.
    Custom(fn(Call) -> ToolFuture),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

/// One request of the REST API. Arguments that are not in the path go into the query of a GET or DELETE,
/// and into the body otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// Below `/api/v1`; `{argument}` takes the argument as one segment.
    pub(crate) path: &'static str,
    /// Pairs of argument and wire name, where the two differ.
    pub(crate) renamed: &'static [(&'static str, &'static str)],
    /// Further fields with fixed values.
    pub(crate) fixed: &'static [(&'static str, &'static str)],
    /// The message for an empty response.
    pub(crate) success_message: Option<&'static str>,
    /// The number of a list's first page.
    pub(crate) first_page: u64,
}

impl Route {
    const fn new(verb: Verb, path: &'static str) -> Self {
        Self {
            verb,
            path,
            renamed: &[],
            fixed: &[],
            success_message: None,
            first_page: 1,
        }
    }

    /// Marks a list whose pages the service counts from 0.
    pub(crate) const fn pages_from_zero(mut self) -> Self {
        self.first_page = 0;
        self
    }

    pub(crate) const fn renamed(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.renamed = names;
        self
    }

    pub(crate) const fn fixed(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.fixed = fields;
        self
    }

    pub(crate) const fn success_message(mut self, text: &'static str) -> Self {
        self.success_message = Some(text);
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
        description: &'static str,
        params: &'static [Param],
        run: Run,
    ) -> Self {
        Self {
            name,
            title,
            description,
            params,
            effect,
            open_world: false,
            confirm: false,
            ask: None,
            never_unasked: false,
            result: ResultForm::Plain,
            requirements: &[],
            carried_out_by: None,
            undo: None,
            run,
        }
    }

    /// True if it reaches people or systems outside the service.
    pub(crate) const fn open_world(mut self) -> Self {
        self.open_world = true;
        self
    }

    /// Marks a tool that can't be undone, costs money or gives something away, with a question that names what
    /// it is about.
    pub(crate) const fn confirmed_with(mut self, ask: AskFn) -> Self {
        self.confirm = true;
        self.ask = Some(ask);
        self
    }

    /// Marks a tool whose list ends with the newest: where it is too long, the begin is left out.
    pub(crate) const fn newest_last(mut self) -> Self {
        self.result = ResultForm::NewestLast;
        self
    }

    /// Marks a tool that shows all details of a file or folder.
    pub(crate) const fn shows_details(mut self) -> Self {
        self.result = ResultForm::Details;
        self
    }

    /// Marks a tool that returns the content of a file.
    pub(crate) const fn returns_content(mut self) -> Self {
        self.result = ResultForm::Content;
        self
    }

    /// Marks a tool that has to be confirmed for some arguments.
    pub(crate) const fn asking(mut self, ask: AskFn) -> Self {
        self.ask = Some(ask);
        self
    }

    /// Marks a tool that has to be confirmed for some arguments, and is refused for them where nobody can be asked.
    pub(crate) const fn never_unasked(mut self, ask: AskFn) -> Self {
        self.ask = Some(ask);
        self.never_unasked = true;
        self
    }

    /// Returns the arguments that name files on this machine.
    pub(crate) fn local_paths(&self) -> impl Iterator<Item = &'static str> {
        let local = |param: &&Param| {
            matches!(
                param.shape,
                Shape::Text {
                    form: Form::LocalPath,
                    ..
                }
            )
        };
        self.params.iter().filter(local).map(|param| param.name)
    }

    pub(crate) const fn requirements(mut self, requirements: &'static [Requirement]) -> Self {
        self.requirements = requirements;
        self
    }

    /// Marks a tool that only shows what it would do unless this flag is given.
    pub(crate) const fn carried_out_by(mut self, flag: &'static str) -> Self {
        self.carried_out_by = Some(flag);
        self
    }

    /// Marks a tool whose change a session can take back.
    pub(crate) const fn undone_as(mut self, undo: Undo) -> Self {
        self.undo = Some(undo);
        self
    }

    pub(crate) fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

impl Effect {
    pub(crate) fn is_read_only(self) -> bool {
        self == Self::ReadOnly
    }

    pub(crate) fn is_destructive(self) -> bool {
        matches!(self, Self::IdempotentDestructive | Self::Destructive)
    }

    pub(crate) fn is_idempotent(self) -> bool {
        matches!(
            self,
            Self::ReadOnly | Self::IdempotentAdditive | Self::IdempotentDestructive
        )
    }
}
