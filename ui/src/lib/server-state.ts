// How the state of a server is displayed.
import type { ServerState } from "./api/generated";

/** Messages of the host for a denied start (`host/src/owner/decisions/denials.rs`). */
const DENIALS = ["its command was not approved", "its address was not approved"];
const VERSION_DENIAL = "the other version was not approved";

/** A denial of a server's start by the user. */
export interface StartDenial {
  /** Message of the host if it says more than that the start was denied, otherwise `null`. */
  detail: string | null;
}

/**
 * Returns the user's denial because of which a server does not run, or `null` if there is another reason. The host
 * reports every start that it does not make as refused, also if a rule denies it.
 */
export function startDenial(state: ServerState): StartDenial | null {
  if (state.is !== "failed" || state.reason !== "refused") return null;
  if (DENIALS.includes(state.message)) return { detail: null };
  return state.message.startsWith(VERSION_DENIAL) ? { detail: state.message } : null;
}

/** Returns the state to display: a server whose start the user denied is stopped and has not failed. */
export function displayedState(state: ServerState): ServerState["is"] {
  return startDenial(state) === null ? state.is : "stopped";
}
