// Newer versions of the app, as the shell last told: for Settings, and for the mark beside it.
import { pageState } from "$lib/page-state";
import { platform, type AppRelease, type UpdateReport } from "$lib/platform";

class AppUpdate {
  /** Null without a shell, or before it has answered. */
  report = $state.raw<UpdateReport | null>(null);
  /** What can be installed or is on its way. */
  readonly release: AppRelease | null = $derived(
    this.report && "release" in this.report.step ? this.report.step.release : null,
  );

  /** Asks the shell once more. */
  async read(): Promise<void> {
    this.report = await platform().updateReport();
  }
}

export let appUpdate: AppUpdate;
pageState(() => (appUpdate = new AppUpdate()));
