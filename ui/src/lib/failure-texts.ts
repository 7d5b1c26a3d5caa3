// Texts of a failure in the window and the guide. Each area has a record of its failures, from which its components
// are rendered and the table of the guide is written (`guide/failures.test.ts`).

/** Texts for a failure: its cause and its remedy, and the actions of its buttons. */
export interface FailureTexts<Action extends string> {
  cause: () => string;
  /** Returns a sentence that tells the user how to remedy the failure. */
  fix: () => string;
  /** Action of the first button, which performs the remedy. */
  action: Action;
  /** Actions of further buttons in order. */
  others?: readonly Action[];
}

/** Returns all actions of a failure, the remedy first. */
export function actionsOf<Action extends string>(failure: FailureTexts<Action>): Action[] {
  return [failure.action, ...(failure.others ?? [])];
}
