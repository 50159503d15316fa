//! Parameters of tools: one declaration each, from which schema, validation and documentation
//! are generated.

/// A parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    /// The description for an assistant that has read nothing else, as short as possible.
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    /// True if the service fills in the default, from the account's settings.
    pub(crate) server_default: bool,
    pub(crate) shape: Shape,
}

/// The values that a parameter accepts. Lengths count characters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text {
        min: usize,
        max: usize,
        form: Form,
    },
    Choice {
        of: &'static [&'static str],
        default: Option<&'static str>,
    },
    Integer {
        min: i64,
        max: i64,
        default: Option<i64>,
    },
    /// A number with or without a fraction, greater than `above`, or at least `min`, and at most `max`; of cents with
    /// two decimals at most.
    Number {
        above: Option<f64>,
        min: Option<f64>,
        max: Option<f64>,
        in_cents: bool,
    },
    Flag {
        default: Option<bool>,
    },
    /// A flag that has to be true.
    MustAccept,
    /// Money as decimal text, in minor units.
    Money {
        min: u64,
        max: u64,
    },
    Texts {
        min: usize,
        max: usize,
        form: Form,
    },
    Choices {
        of: &'static [&'static str],
    },
    /// Keys with plain values.
    Labels,
    /// An object whose fields the tool itself checks.
    Object,
    /// A list whose elements the tool itself checks.
    List,
    /// Any JSON value.
    Any,
}

impl Shape {
    /// Returns the form of the text, or of the texts in the list; `None` for values of other kinds.
    pub(crate) fn text_form(self) -> Option<Form> {
        match self {
            Self::Text { form, .. } | Self::Texts { form, .. } => Some(form),
            Self::Choice { .. }
            | Self::Integer { .. }
            | Self::Number { .. }
            | Self::Flag { .. }
            | Self::MustAccept
            | Self::Money { .. }
            | Self::Choices { .. }
            | Self::Labels
            | Self::Object
            | Self::List
            | Self::Any => None,
        }
    }
}

/// The form of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Free,
    /// At least one character that is not white space.
    NonEmpty,
    Uuid,
    /// The id of a file or folder, or its path: see [`crate::node_argument`].
    Node,
    Email,
    /// ISO 8601, a date or a date with time.
    DateTime,
    /// Letters, digits, hyphen, underscore.
    Handle,
    Https,
    /// HTTPS to a host that can be public.
    Callback,
    Colour,
    Hex,
    /// A path on this machine.
    LocalPath,
    /// A number with a unit, such as `30d`; at most 36500 days.
    Duration,
}

const UNLIMITED: usize = usize::MAX;

impl Param {
    const fn new(name: &'static str, description: &'static str, shape: Shape) -> Self {
        Self {
            name,
            description,
            required: false,
            server_default: false,
            shape,
        }
    }

    /// Makes the parameter mandatory.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Limits the length of a text.
    pub(crate) const fn length(mut self, min: usize, max: usize) -> Self {
        if let Shape::Text { form, .. } = self.shape {
            self.shape = Shape::Text { min, max, form };
        }
        self
    }

    const fn form(mut self, form: Form) -> Self {
        if let Shape::Text { min, max, .. } = self.shape {
            self.shape = Shape::Text { min, max, form };
        }
        self
    }

    /// Sets the default of a choice.
    pub(crate) const fn or(mut self, value: &'static str) -> Self {
        if let Shape::Choice { of, .. } = self.shape {
            self.shape = Shape::Choice {
                of,
                default: Some(value),
            };
        }
        self
    }

    /// Leaves the default to the service; [`Self::or`] documents it
    /// for accounts without a setting of their own.
    pub(crate) const fn server_default(mut self) -> Self {
        self.server_default = true;
        self
    }

    /// Sets the default of an integer.
    pub(crate) const fn or_number(mut self, value: i64) -> Self {
        if let Shape::Integer { min, max, .. } = self.shape {
            self.shape = Shape::Integer {
                min,
                max,
                default: Some(value),
            };
        }
        self
    }
}

/// Declares a text that may be empty.
pub(crate) const fn text(name: &'static str, description: &'static str) -> Param {
    let shape = Shape::Text {
        min: 0,
        max: UNLIMITED,
        form: Form::Free,
    };
    Param::new(name, description, shape)
}

/// Declares a text with at least one visible character.
pub(crate) const fn non_empty(name: &'static str, description: &'static str) -> Param {
    text(name, description)
        .form(Form::NonEmpty)
        .length(1, UNLIMITED)
}

pub(crate) const fn uuid(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Uuid)
}

/// Declares a file or folder. Its schema has the form of an id, as specified; a path is accepted too.
pub(crate) const fn node(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Node)
}

pub(crate) const fn email(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Email)
}

pub(crate) const fn date_time(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::DateTime)
}

pub(crate) const fn handle(
    name: &'static str,
    min: usize,
    max: usize,
    description: &'static str,
) -> Param {
    text(name, description).form(Form::Handle).length(min, max)
}

pub(crate) const fn https(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Https)
}

pub(crate) const fn callback(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Callback)
}

pub(crate) const fn colour(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Colour)
}

pub(crate) const fn local_path(name: &'static str, description: &'static str) -> Param {
    text(name, description)
        .form(Form::LocalPath)
        .length(1, UNLIMITED)
}

pub(crate) const fn duration(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Duration)
}

pub(crate) const fn hex(name: &'static str, description: &'static str) -> Param {
    text(name, description).form(Form::Hex)
}

pub(crate) const fn choice(
    name: &'static str,
    of: &'static [&'static str],
    description: &'static str,
) -> Param {
    Param::new(name, description, Shape::Choice { of, default: None })
}

/// Declares an integer of at least `min`.
pub(crate) const fn integer(name: &'static str, min: i64, description: &'static str) -> Param {
    integer_in(name, min, i64::MAX, description)
}

pub(crate) const fn integer_in(
    name: &'static str,
    min: i64,
    max: i64,
    description: &'static str,
) -> Param {
    let shape = Shape::Integer {
        min,
        max,
        default: None,
    };
    Param::new(name, description, shape)
}

/// Declares a number greater than `above`.
pub(crate) const fn number_above(
    name: &'static str,
    above: f64,
    description: &'static str,
) -> Param {
    let shape = Shape::Number {
        above: Some(above),
        min: None,
        max: None,
        in_cents: false,
    };
    Param::new(name, description, shape)
}

/// Declares an amount of money greater than zero, with at most two decimals.
pub(crate) const fn amount(name: &'static str, description: &'static str) -> Param {
    let shape = Shape::Number {
        above: Some(0.0),
        min: None,
        max: None,
        in_cents: true,
    };
    Param::new(name, description, shape)
}

/// Declares a number of at least `min`.
pub(crate) const fn number_from(name: &'static str, min: f64, description: &'static str) -> Param {
    let shape = Shape::Number {
        above: None,
        min: Some(min),
        max: None,
        in_cents: false,
    };
    Param::new(name, description, shape)
}

/// Declares a number between two others, or one of them.
pub(crate) const fn number_in(
    name: &'static str,
    min: f64,
    max: f64,
    description: &'static str,
) -> Param {
    let shape = Shape::Number {
        above: None,
        min: Some(min),
        max: Some(max),
        in_cents: false,
    };
    Param::new(name, description, shape)
}

pub(crate) const fn flag(name: &'static str, description: &'static str) -> Param {
    Param::new(name, description, Shape::Flag { default: None })
}

/// Declares a flag that is true by default.
pub(crate) const fn flag_on(name: &'static str, description: &'static str) -> Param {
    let shape = Shape::Flag {
        default: Some(true),
    };
    Param::new(name, description, shape)
}

pub(crate) const fn must_accept(name: &'static str, description: &'static str) -> Param {
    Param::new(name, description, Shape::MustAccept)
}

/// Declares an amount of `min` to `max` minor units.
pub(crate) const fn money(
    name: &'static str,
    min: u64,
    max: u64,
    description: &'static str,
) -> Param {
    Param::new(name, description, Shape::Money { min, max })
}

pub(crate) const fn uuids(name: &'static str, max: usize, description: &'static str) -> Param {
    list_of(Form::Uuid, name, max, description)
}

/// Declares a list of files and folders, as [`node`] does one.
pub(crate) const fn nodes(name: &'static str, max: usize, description: &'static str) -> Param {
    list_of(Form::Node, name, max, description)
}

const fn list_of(form: Form, name: &'static str, max: usize, description: &'static str) -> Param {
    Param::new(name, description, Shape::Texts { min: 1, max, form })
}

pub(crate) const fn emails(name: &'static str, max: usize, description: &'static str) -> Param {
    let shape = Shape::Texts {
        min: 0,
        max,
        form: Form::Email,
    };
    Param::new(name, description, shape)
}

pub(crate) const fn texts(name: &'static str, description: &'static str) -> Param {
    let shape = Shape::Texts {
        min: 0,
        max: UNLIMITED,
        form: Form::Free,
    };
    Param::new(name, description, shape)
}

/// Declares a list of at least one of the given texts.
pub(crate) const fn choices(
    name: &'static str,
    of: &'static [&'static str],
    description: &'static str,
) -> Param {
    Param::new(name, description, Shape::Choices { of })
}

pub(crate) const fn labels(name: &'static str, description: &'static str) -> Param {
    Param::new(name, description, Shape::Labels)
}

pub(crate) const fn object(name: &'static str, description: &'static str) -> Param {
    Param::new(name, description, Shape::Object)
}

pub(crate) const fn list(name: &'static str, description: &'static str) -> Param {
    Param::new(name, description, Shape::List)
}

pub(crate) const fn any_value(name: &'static str, description: &'static str) -> Param {
    Param::new(name, description, Shape::Any)
}

/// The way on in a list that has no pages: the note about a cut names the number.
pub(crate) const SKIP: Param = integer("skip", 0, "To show more").or_number(0);
pub(crate) const PAGE: Param = integer("page", 1, "Page, from 1").or_number(1);
pub(crate) const PAGE_SIZE: Param = integer_in("page_size", 1, 100, "Items per page").or_number(20);
