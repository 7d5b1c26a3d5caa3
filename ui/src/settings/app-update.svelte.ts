// State of app updates as last reported by the shell, for the settings and their badge.
import { registerPageState } from "$lib/page-state";
import { platform, type AppRelease, type UpdateReport } from "$lib/platform";

class AppUpdate {
  /** Last report of the desktop shell. `null` without a shell, or before its first report. */
  report = $state.raw<UpdateReport | null>(null);
  /** Release that can be installed or is being installed, or `null`. */
  readonly release: AppRelease | null = $derived(
    this.report && "release" in this.report.step ? this.report.step.release : null,
  );

  /** Requests the current report from the desktop shell. */
  async read(): Promise<void> {
    this.report = await platform().updateReport();
  }
}

export let appUpdate: AppUpdate;
registerPageState(() => (appUpdate = new AppUpdate()));
