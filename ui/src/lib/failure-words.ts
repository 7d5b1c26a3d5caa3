// A failure as the window and the guide name it. Each area has a record of its failures, which its components draw and from
// which the guide's table is written (`guide/failures.test.ts`).

/** The cause of a failure, its remedy, and the buttons that lead there. */
export interface FailureWords<Action extends string> {
  cause: () => string;
  /** The remedy. */
  fix: () => string;
  /** The action of the first button, which leads to the remedy. */
  action: Action;
  /** The actions of further buttons, in order. */
  others?: readonly Action[];
}

/** Returns all actions of a failure, the one that leads to the remedy first. */
export function actionsOf<Action extends string>(failure: FailureWords<Action>): Action[] {
  return [failure.action, ...(failure.others ?? [])];
}
