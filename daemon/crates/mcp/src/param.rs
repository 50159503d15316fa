//! What a tool takes: one declaration per parameter, from which schema, validation and documentation
//! are made.

/// A parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    /// For an assistant that has read nothing else, in as few words as possible.
    pub(crate) about: &'static str,
    pub(crate) required: bool,
    /// What is left out stays out: the service knows what the account wants in its place.
    pub(crate) chosen_there: bool,
    pub(crate) shape: Shape,
}

/// What values a parameter can have. Lengths count characters.
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
    Whole {
        min: i64,
        max: i64,
        default: Option<i64>,
    },
    /// A number, also a broken one.
    Number {
        above: f64,
    },
    Flag {
        default: Option<bool>,
    },
    /// Only true will do.
    Agreed,
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
    /// An object whose fields the tool itself looks at.
    Object,
    /// A list whose elements the tool itself looks at.
    List,
    /// Whatever JSON can say.
    Anything,
}

/// What a text has to look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Free,
    /// Something remains when white space around it is taken away.
    Said,
    Uuid,
    Email,
    /// ISO 8601, a date or a date with time.
    Moment,
    /// Letters, digits, hyphen, underscore.
    Handle,
    Https,
    /// HTTPS to a host that can be public.
    Callback,
    Colour,
    Hex,
}

const UNLIMITED: usize = usize::MAX;

impl Param {
    const fn new(name: &'static str, about: &'static str, shape: Shape) -> Self {
        Self {
            name,
            about,
            required: false,
            chosen_there: false,
            shape,
        }
    }

    /// It can't be left out.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Limits the length of a text.
    pub(crate) const fn length(mut self, least: usize, most: usize) -> Self {
        if let Shape::Text { form, .. } = self.shape {
            self.shape = Shape::Text {
                min: least,
                max: most,
                form,
            };
        }
        self
    }

    const fn form(mut self, form: Form) -> Self {
        if let Shape::Text { min, max, .. } = self.shape {
            self.shape = Shape::Text { min, max, form };
        }
        self
    }

    /// What stands for a value that is left out.
    pub(crate) const fn or(mut self, value: &'static str) -> Self {
        if let Shape::Choice { of, .. } = self.shape {
            self.shape = Shape::Choice {
                of,
                default: Some(value),
            };
        }
        self
    }

    /// The service chooses what stands for a value that is left out; [`Self::or`] says what that is
    /// unless the account wants something else.
    pub(crate) const fn chosen_there(mut self) -> Self {
        self.chosen_there = true;
        self
    }

    /// What stands for a number that is left out.
    pub(crate) const fn or_number(mut self, value: i64) -> Self {
        if let Shape::Whole { min, max, .. } = self.shape {
            self.shape = Shape::Whole {
                min,
                max,
                default: Some(value),
            };
        }
        self
    }
}

/// Text that may be empty.
pub(crate) const fn text(name: &'static str, about: &'static str) -> Param {
    let shape = Shape::Text {
        min: 0,
        max: UNLIMITED,
        form: Form::Free,
    };
    Param::new(name, about, shape)
}

/// Text that says something.
pub(crate) const fn said(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Said).length(1, UNLIMITED)
}

pub(crate) const fn uuid(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Uuid)
}

pub(crate) const fn email(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Email)
}

pub(crate) const fn moment(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Moment)
}

pub(crate) const fn handle(
    name: &'static str,
    least: usize,
    most: usize,
    about: &'static str,
) -> Param {
    text(name, about).form(Form::Handle).length(least, most)
}

pub(crate) const fn https(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Https)
}

pub(crate) const fn callback(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Callback)
}

pub(crate) const fn colour(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Colour)
}

pub(crate) const fn hex(name: &'static str, about: &'static str) -> Param {
    text(name, about).form(Form::Hex)
}

pub(crate) const fn choice(
    name: &'static str,
    of: &'static [&'static str],
    about: &'static str,
) -> Param {
    Param::new(name, about, Shape::Choice { of, default: None })
}

/// A whole number of at least `min`.
pub(crate) const fn whole(name: &'static str, min: i64, about: &'static str) -> Param {
    between(name, min, i64::MAX, about)
}

pub(crate) const fn between(name: &'static str, min: i64, max: i64, about: &'static str) -> Param {
    let shape = Shape::Whole {
        min,
        max,
        default: None,
    };
    Param::new(name, about, shape)
}

/// A number of more than `above`.
pub(crate) const fn number_above(name: &'static str, above: f64, about: &'static str) -> Param {
    Param::new(name, about, Shape::Number { above })
}

pub(crate) const fn flag(name: &'static str, about: &'static str) -> Param {
    Param::new(name, about, Shape::Flag { default: None })
}

/// A flag that is on unless it is switched off.
pub(crate) const fn on(name: &'static str, about: &'static str) -> Param {
    let shape = Shape::Flag {
        default: Some(true),
    };
    Param::new(name, about, shape)
}

pub(crate) const fn agreed(name: &'static str, about: &'static str) -> Param {
    Param::new(name, about, Shape::Agreed)
}

/// Money from `min` to `max` minor units.
pub(crate) const fn money(name: &'static str, min: u64, max: u64, about: &'static str) -> Param {
    Param::new(name, about, Shape::Money { min, max })
}

pub(crate) const fn uuids(name: &'static str, max: usize, about: &'static str) -> Param {
    let shape = Shape::Texts {
        min: 1,
        max,
        form: Form::Uuid,
    };
    Param::new(name, about, shape)
}

pub(crate) const fn emails(name: &'static str, max: usize, about: &'static str) -> Param {
    let shape = Shape::Texts {
        min: 0,
        max,
        form: Form::Email,
    };
    Param::new(name, about, shape)
}

pub(crate) const fn texts(name: &'static str, about: &'static str) -> Param {
    let shape = Shape::Texts {
        min: 0,
        max: UNLIMITED,
        form: Form::Free,
    };
    Param::new(name, about, shape)
}

/// At least one of the given texts.
pub(crate) const fn choices(
    name: &'static str,
    of: &'static [&'static str],
    about: &'static str,
) -> Param {
    Param::new(name, about, Shape::Choices { of })
}

pub(crate) const fn labels(name: &'static str, about: &'static str) -> Param {
    Param::new(name, about, Shape::Labels)
}

pub(crate) const fn object(name: &'static str, about: &'static str) -> Param {
    Param::new(name, about, Shape::Object)
}

pub(crate) const fn list(name: &'static str, about: &'static str) -> Param {
    Param::new(name, about, Shape::List)
}

pub(crate) const fn anything(name: &'static str, about: &'static str) -> Param {
    Param::new(name, about, Shape::Anything)
}

pub(crate) const PAGE: Param = whole("page", 1, "Page, from 1").or_number(1);
pub(crate) const PAGE_SIZE: Param = between("page_size", 1, 100, "Items per page").or_number(20);
