// What the keys and pointer of the user decide: one consent request, or a list of tool calls.

import type { Arming } from "./arming.svelte";

export interface Decidable {
  /** Arming of the approving actions. */
  readonly arming: Arming;
  /** Arming of the denying actions. */
  readonly denyArming: Arming;
  /** Identifies what is decided, or `null` without a request. Denials are armed again when it changes. */
  readonly subject: string | null;
  /** Performs the first approving action if the gate accepts `event`. */
  allowFirst(event: Event): Promise<void>;
  deny(event: Event): Promise<void>;
  /** Submits a form, or returns `null` if there is none. */
  submitForm(event: Event): Promise<void> | null;
}
