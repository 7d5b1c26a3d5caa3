// State of app updates as last reported by the shell, for the settings and their badge.
import { pageState } from "$lib/page-state";
import { platform, type AppRelease, type UpdateReport } from "$lib/platform";

class AppUpdate {
  /** `null` without a shell, or before its first report. */
  report = $state.raw<UpdateReport | null>(null);
  /** The version that can be installed or is being installed. */
  readonly release: AppRelease | null = $derived(
    this.report && "release" in this.report.step ? this.report.step.release : null,
  );

  /** Reads the report of the shell again. */
  async read(): Promise<void> {
    this.report = await platform().updateReport();
  }
}

export let appUpdate: AppUpdate;
pageState(() => (appUpdate = new AppUpdate()));
