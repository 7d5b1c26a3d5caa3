//! Tests of the attack classes of MCPSecBench, MCP-SafetyBench and MCPTox (B01 to B15), each as a scenario with a model
//! that obeys the attacker. Each scenario records the information that the user saw before the harm, and if the harm
//! needed an approval that showed it. A scenario fails if its line in `RESULTS.md` differs.

mod definitions;
mod names;
mod results;
mod stage;
mod table;

pub(crate) use stage::{HARM_CANARY, ScenarioHost, tool_definition};
pub(crate) use table::{AttackScenario, ScenarioOutcome};
