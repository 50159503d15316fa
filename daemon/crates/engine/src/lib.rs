//! Placeholder until the first real module lands.
