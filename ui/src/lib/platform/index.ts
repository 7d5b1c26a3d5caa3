// Chooses the platform. Everything else imports from here.
import { pageState } from "$lib/page-state";

import type { Platform } from "./platform";
import { tauri } from "./tauri";
import { web } from "./web";

export type {
  AppRelease,
  DesktopReport,
  Opening,
  OpeningRefusal,
  PageSandbox,
  Platform,
  ShellEvent,
  SystemSwitch,
  UpdateReport,
} from "./platform";

let current: Platform;
pageState(() => (current = "__TAURI_INTERNALS__" in globalThis ? tauri : web));

/** The platform in use. */
export function platform(): Platform {
  return current;
}

/** Takes another platform, in tests. */
export function setPlatform(other: Platform): void {
  current = other;
}
