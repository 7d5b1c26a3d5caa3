//! Tests of the attack classes of MCPSecBench, MCP-SafetyBench and MCPTox (B01 to B15), each as a scenario with a model
//! that obeys the attacker. Each records the information that the user saw before the harm, and whether the harm needed
//! an approval that showed it. `RESULTS.md` has a line for each, and a scenario fails if its line differs.

mod definitions;
mod names;
mod results;
mod stage;
mod table;

pub(crate) use stage::{CANARY, Stage, tool};
pub(crate) use table::{Outcome, Scenario};
