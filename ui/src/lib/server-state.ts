// How the state of a server is displayed.
import type { ServerState, StartRefusal } from "./api/generated";

/** A refusal of a server's start by the user. */
export type UserRefusal = Exclude<StartRefusal, "denied_by_rule">;

/**
 * Returns how the user refused the start of a server that does not run, or `null` if there is another reason, such as
 * a rule that denies the start.
 */
export function userRefusal(state: ServerState): UserRefusal | null {
  if (state.is !== "failed" || state.refusal === "denied_by_rule") return null;
  return state.refusal ?? null;
}

/** Returns the state to display: a server whose start the user refused is stopped and has not failed. */
export function displayedState(state: ServerState): ServerState["is"] {
  return userRefusal(state) === null ? state.is : "stopped";
}
