// Selects the platform. All other modules import it from here.
import { registerPageState } from "$lib/page-state";

import type { Platform } from "./platform";
import { tauriPlatform } from "./tauri";
import { webPlatform } from "./web";

export type {
  AppRelease,
  AppStopCause,
  DesktopReport,
  MenuBar,
  Opening,
  OpeningRefusal,
  PageSandbox,
  Platform,
  ShellEvent,
  StoppedApp,
  StoppedAppsReport,
  SystemSwitch,
  UpdateReport,
  WindowProblem,
} from "./platform";

let current: Platform;
registerPageState(
  () => (current = "__TAURI_INTERNALS__" in globalThis ? tauriPlatform : webPlatform),
);

/** Returns the current platform. */
export function platform(): Platform {
  return current;
}

/** Replaces the platform in tests. */
export function setPlatform(other: Platform): void {
  current = other;
}
