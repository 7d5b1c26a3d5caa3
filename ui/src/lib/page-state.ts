// State that lives as long as the page. A module that holds such a state registers here how it begins, so that all of it can
// begin again together: tests share one page.

const beginnings: (() => void)[] = [];

/**
 * Begins a state, at once and again with `resetPageState`. States begin in the order in which their modules are loaded, so
 * that one may follow another that it imports.
 */
export function pageState(begin: () => void): void {
  beginnings.push(begin);
  begin();
}

/** Begins the state of all loaded modules again. Nothing of it may be shown then. */
export function resetPageState(): void {
  for (const begin of beginnings) begin();
}
