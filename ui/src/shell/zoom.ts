// How large the page is drawn: by keys, by the wheel with Ctrl, in the menu of the view, and in Settings. In a browser that is its own.
import { on } from "svelte/events";

import { isMod } from "$lib/format/keys";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";

import { changeSettings } from "./actions";

/** The sizes that browsers have, in percent. */
export const ZOOMS = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200] as const;

export const ACTUAL_SIZE = 100;

/** How far a wheel turns for a step, in pixels: a notch of most mice is 100 or more. */
const NOTCH = 60;

export type ZoomStep = "in" | "out" | "reset";

/** The next size; the same one at the ends. A size that is none of the steps goes to the next of them. */
export function zoomAfter(percent: number, step: ZoomStep): number {
  if (step === "reset") return ACTUAL_SIZE;
  const next =
    step === "in" ? ZOOMS.find((one) => one > percent) : ZOOMS.findLast((one) => one < percent);
  return next ?? percent;
}

export function zoom(step: ZoomStep): void {
  const next = zoomAfter(app.settings.zoom, step);
  if (next !== app.settings.zoom) void changeSettings({ zoom: next });
}

/** What a key asks for, on all layouts: plus is reached with Shift on some, and is a key of its own on the number pad. */
export function zoomKey(event: KeyboardEvent): ZoomStep | null {
  if (!isMod(event) || event.altKey) return null;
  if (event.key === "+" || event.key === "=" || event.code === "NumpadAdd") return "in";
  if (event.key === "-" || event.code === "NumpadSubtract") return "out";
  // The key of the zero has another sign on French keyboards.
  const isZero = event.key === "0" || event.code === "Digit0" || event.code === "Numpad0";
  if (!event.shiftKey && isZero) return "reset";
  return null;
}

/**
 * Follows keys and the wheel until told to stop. A dialog in front keeps nothing from it: whoever can't read it needs it most. A
 * button of a consent request that comes to lie under the pointer by it was not aimed at (`../consent/arming.svelte.ts`).
 */
export function followZoom(): () => void {
  if (!platform().zooms) return () => undefined;
  let turned = 0;
  const keys = on(window, "keydown", (event) => {
    const step = zoomKey(event);
    if (step === null || event.defaultPrevented) return;
    event.preventDefault();
    zoom(step);
  });
  const wheel = on(
    window,
    "wheel",
    (event) => {
      if (!isMod(event)) return;
      event.preventDefault();
      // Half turns in the other direction do not count against a new one.
      if (Math.sign(event.deltaY) !== Math.sign(turned)) turned = 0;
      turned +=
        event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * NOTCH;
      if (Math.abs(turned) < NOTCH) return;
      zoom(turned < 0 ? "in" : "out");
      turned = 0;
    },
    { passive: false },
  );
  return () => {
    keys();
    wheel();
  };
}
