// Interface of decidable content: one consent request, or a list of tool calls. `ConsentInputListener` passes key and
// pointer events to it.

import type { Arming } from "./arming.svelte";

export interface Decidable {
  /** Arming of the approving actions. */
  readonly arming: Arming;
  /** Arming of the denying actions. */
  readonly denyArming: Arming;
  /** Id of the displayed request or list, or `null` if there is none. Denials are armed again when it changes. */
  readonly subject: string | null;
  /**
   * Set while A and D decide: the user has moved to the request or list, or opened it, and there are no fields to fill
   * in, where a name could begin with them.
   */
  readonly acceptsLetters: boolean;
  /** Records that the user has moved to what is displayed, by a click, Tab or F6. */
  attend(): void;
  /** Performs the default approving action if the gate accepts `event`. */
  allowFirst(event: Event): Promise<void>;
  deny(event: Event): Promise<void>;
  /** Submits the displayed form, or returns `null` if there is none. */
  submitForm(event: Event): Promise<void> | null;
}
