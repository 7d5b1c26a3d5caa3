// Selects the values of a server's command that the host may look for on this computer while they are entered.
import type { CheckServerCommand } from "$lib/api/generated";
import { isWindows } from "$lib/operating-system";

import type { ServerDraft } from "./draft.svelte";

/** Values that decide where the program and the working folder of a command are looked for. */
export interface CommandValues {
  command: string;
  /** Working folder. Empty for the default one. */
  cwd: string;
  /** Entered `PATH`. Empty if there is none, or the page does not know it. */
  path: string;
  /** Set if a `PATH` is stored in the keychain, or will be. */
  hasSecretPath: boolean;
}

const NO_VALUES: CommandValues = { command: "", cwd: "", path: "", hasSecretPath: false };

export function commandValues(draft: ServerDraft, windows = isWindows): CommandValues {
  // On Windows, case does not matter in names of environment variables.
  const isPath = (name: string) => (windows ? name.toUpperCase() : name) === "PATH";
  const row = draft.env.find(({ name }) => isPath(name.trim()));
  return {
    command: draft.command.trim(),
    cwd: draft.cwd.trim(),
    path: row && !row.secret ? row.value : "",
    hasSecretPath: row?.secret ?? false,
  };
}

/**
 * Returns the values to check, or `null` if there are none. `given` are the values of a text that others wrote. The
 * user has not approved them yet, and a look at such a path can reveal the user to another computer. Thus they are
 * checked only once they are edited, except for the name of a program in the user's own search path.
 */
export function commandToCheck(
  draft: ServerDraft,
  given: CommandValues = NO_VALUES,
): CheckServerCommand | null {
  const { command, cwd, path, hasSecretPath } = commandValues(draft);
  const isEntered = (value: string, before: string) => value === "" || value !== before;
  const isFolderEntered = isEntered(cwd, given.cwd);
  const isBareName = !/[\\/]/.test(command);
  // A relative path of the program, or in `PATH`, starts at the working folder. `PATH` is for names only.
  const isProgramEntered = isBareName
    ? path === "" || (isEntered(path, given.path) && isFolderEntered)
    : isEntered(command, given.command) && isFolderEntered;
  const isProgramChecked = command !== "" && isProgramEntered && !(isBareName && hasSecretPath);
  const checked = {
    command: isProgramChecked ? command : null,
    path: isProgramChecked && isBareName && path !== "" ? path : null,
    cwd: isFolderEntered && cwd !== "" ? cwd : null,
  };
  return checked.command === null && checked.cwd === null ? null : checked;
}
