//! Tests of rules: their syntax, what they match, and their limits.

mod limits;
mod other_inputs;
mod properties;
mod respelled;
mod sampling_budget;
mod spellings;
mod written;
