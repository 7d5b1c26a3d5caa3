// Actions that the window of a conversation requests from the main window, because it may not run them itself.
import { platform } from "$lib/platform";

/** Ids of these actions. Others are not run on request of another window. */
const MAIN_ACTIONS = ["new-conversation", "checkup", "quit"] as const;

type MainAction = (typeof MAIN_ACTIONS)[number];

const PREFIX = "#/action/";

/** Brings the main window to the front and runs the action there. */
export function runInMainWindow(action: MainAction): void {
  platform().showMainWindow(PREFIX + action);
}

/** Returns the action that a hash stands for, or `null` if it is the hash of a view. */
export function actionFromHash(hash: string): MainAction | null {
  return MAIN_ACTIONS.find((action) => hash === PREFIX + action) ?? null;
}
