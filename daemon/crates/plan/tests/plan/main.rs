//! The planner against a small world: tables of named cases, and laws over random histories.

mod concurrent;
mod device;
mod direction;
mod held;
mod laws;
mod names;
mod one_side;
mod scale;
mod scenario;
mod script;
mod service;
mod steps;
mod types;
