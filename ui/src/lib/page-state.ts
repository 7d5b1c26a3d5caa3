// Registry of module state that lives as long as the page. Modules register how their state is initialized, so that
// tests, which share one page, can reset all of it.

const initializers: (() => void)[] = [];

/**
 * Runs an initializer of module state, and registers it for `resetPageState`. Initializers run in the order in which
 * their modules are loaded, so that one may use the state of an imported module.
 */
export function registerPageState(initialize: () => void): void {
  initializers.push(initialize);
  initialize();
}

/** Resets all module state by running every initializer again. No component that uses the state may be mounted. */
export function resetPageState(): void {
  for (const initialize of initializers) initialize();
}
