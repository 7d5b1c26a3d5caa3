// Zoom of the page by keys, Ctrl and wheel, the view menu and Settings. Browsers have their own zoom.
import { on } from "svelte/events";

import { isShortcutModifier } from "$lib/format/keys";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";

import { changeSettings } from "./actions";

/** Selectable zoom values in percent, the same as in browsers. */
export const ZOOM_PERCENTS = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200] as const;

export const ACTUAL_SIZE = 100;

/** Wheel distance in pixels that changes the zoom by one step. A notch of most mice is 100 or more. */
const NOTCH = 60;

export type ZoomStep = "in" | "out" | "reset";

/**
 * Returns the zoom after a step, or the same value at the bounds. A value between two steps changes to the next of
 * them.
 */
export function zoomAfterStep(percent: number, step: ZoomStep): number {
  if (step === "reset") return ACTUAL_SIZE;
  const next =
    step === "in"
      ? ZOOM_PERCENTS.find((one) => one > percent)
      : ZOOM_PERCENTS.findLast((one) => one < percent);
  return next ?? percent;
}

export function applyZoomStep(step: ZoomStep): void {
  const next = zoomAfterStep(app.settings.zoom, step);
  if (next !== app.settings.zoom) void changeSettings({ zoom: next });
}

/**
 * Returns the zoom step of a key, or `null` if it has none. Supports all keyboard layouts: plus requires Shift on some,
 * and the number pad has separate keys.
 */
export function zoomStepOfKey(event: KeyboardEvent): ZoomStep | null {
  if (!isShortcutModifier(event) || event.altKey) return null;
  if (event.key === "+" || event.key === "=" || event.code === "NumpadAdd") return "in";
  if (event.key === "-" || event.code === "NumpadSubtract") return "out";
  // The key of the zero has another character on French keyboards.
  const isZero = event.key === "0" || event.code === "Digit0" || event.code === "Numpad0";
  if (!event.shiftKey && isZero) return "reset";
  return null;
}

/**
 * Handles keys and the wheel until the returned function is called. Also works while a dialog is open, because a user
 * who can't read the dialog needs the zoom most. If the zoom moves a button of a consent request below the pointer, the
 * button is disarmed (`../consent/arming.svelte.ts`).
 */
export function followZoom(): () => void {
  if (!platform().zooms) return () => undefined;
  let turned = 0;
  const keys = on(window, "keydown", (event) => {
    const step = zoomStepOfKey(event);
    if (step === null || event.defaultPrevented) return;
    event.preventDefault();
    applyZoomStep(step);
  });
  const wheel = on(
    window,
    "wheel",
    (event) => {
      if (!isShortcutModifier(event)) return;
      event.preventDefault();
      // A turn in the other direction starts a new count.
      if (Math.sign(event.deltaY) !== Math.sign(turned)) turned = 0;
      turned +=
        event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * NOTCH;
      if (Math.abs(turned) < NOTCH) return;
      applyZoomStep(turned < 0 ? "in" : "out");
      turned = 0;
    },
    { passive: false },
  );
  return () => {
    keys();
    wheel();
  };
}
