//! The view from outside: the attack classes of MCPSecBench, MCP-SafetyBench and MCPTox (B01 to B15), each as a scenario with a model
//! that does whatever the attacker wants. Of each it is told what the user saw before the harm, and whether the harm needed an
//! approval that showed it. `RESULTS.md` has one line for each; a scenario fails where its line is another one.

mod definitions;
mod names;
mod results;
mod stage;
mod table;

pub(crate) use stage::{CANARY, Stage, tool};
pub(crate) use table::{Outcome, Scenario};
