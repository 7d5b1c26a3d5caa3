// The app that is shown in full screen or in the small window. There is at most one.
import { registerPageState } from "$lib/page-state";

interface Raisable {
  /** Returns the app to its place in the content. */
  lower(): void;
}

class RaisedApp {
  current = $state.raw<Raisable | null>(null);

  raise(app: Raisable): void {
    const before = this.current;
    this.current = app;
    if (before !== app) before?.lower();
  }

  /** Records that the app is inline or closed. */
  release(app: Raisable): void {
    if (this.current === app) this.current = null;
  }
}

export let raisedApp: RaisedApp;
registerPageState(() => (raisedApp = new RaisedApp()));
