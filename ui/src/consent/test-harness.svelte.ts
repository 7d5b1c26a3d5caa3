// Helpers for tests of the consent dialog: a fake host, and a user that presses keys and clicks.

import { cleanup, render, screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, beforeEach, vi } from "vitest";

import type { ConsentRequest } from "$lib/api/generated";
import { setPlatform } from "$lib/platform";
import { axeProblems } from "$lib/testing/axe";

import { ARMING_DELAY_MS } from "./arming.svelte";
import { ConsentController } from "./consent-controller.svelte";
import ConsentDialog from "./ConsentDialog.svelte";
import TurnRequests from "./TurnRequests.svelte";
import { holdsBack } from "./user-acts";

type Handler = (request: never) => unknown;

/** Fake host: the commands that the page has sent, and the handlers that respond to them. */
export const host: {
  sent: [string, unknown][];
  drawn: string[];
  handlers: Record<string, Handler>;
} = { sent: [], drawn: [], handlers: {} };

export function renderRequests(...requests: ConsentRequest[]) {
  let all = $state.raw(requests);
  const controller = new ConsentController(() => all, { holdsBack });
  render(ConsentDialog, { controller });
  return { controller, set: (...next: ConsentRequest[]) => (all = next) };
}

/**
 * Renders the list of the model's tool calls among these requests. `reviewed` collects the ids that were opened from
 * it.
 */
export function renderTurn(...requests: ConsentRequest[]) {
  let all = $state.raw(requests);
  let covered = $state(false);
  const controller = new ConsentController(() => all, { inline: true });
  const reviewed: string[] = [];
  render(TurnRequests, {
    turn: controller.turn,
    get covered() {
      return covered;
    },
    maxHeight: "400px",
    onreview: (id: string) => reviewed.push(id),
  });
  return {
    controller,
    reviewed,
    set: (...next: ConsentRequest[]) => (all = next),
    cover: (by: boolean) => (covered = by),
  };
}

export const button = (name: string | RegExp) => screen.getByRole("button", { name });
export const isButtonBlocked = (name: string | RegExp) =>
  button(name).getAttribute("aria-disabled") === "true";
export const sentDecisions = () =>
  host.sent.filter(([name]) => name === "decide_consent_request").map(([, request]) => request);

export async function waitUntilArmed() {
  await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
  await tick();
}

/** Presses and releases a key. */
export async function pressKey(
  key: string,
  on: Element = document.activeElement ?? document.body,
  more: KeyboardEventInit = {},
) {
  on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  on.dispatchEvent(new KeyboardEvent("keyup", { key, bubbles: true, cancelable: true }));
  await vi.advanceTimersByTimeAsync(0);
}

/** Moves to the displayed request as a user does with Tab. The focus stays in it, since nothing moves it in tests. */
export async function moveToRequest(on?: HTMLElement) {
  on?.focus();
  await pressKey("Tab");
}

/** Moves to the displayed request, and presses a key there. */
export async function pressInRequest(key: string) {
  await moveToRequest();
  await pressKey(key);
}

let last = 0;

/**
 * Clicks an element. `count` is the `detail` of the click: 2 for the second click of a double click. Moves the pointer
 * first, unless `resting` is set.
 */
export async function clickElement(element: Element, count = 1, resting = false) {
  if (!resting) last += 20;
  const at = { bubbles: true, button: 0, clientX: last, clientY: last };
  element.dispatchEvent(new PointerEvent("pointerdown", at));
  element.dispatchEvent(new PointerEvent("pointerup", at));
  element.dispatchEvent(
    new MouseEvent("click", { bubbles: true, cancelable: true, detail: count }),
  );
  await vi.advanceTimersByTimeAsync(0);
}

export async function typeText(field: HTMLElement, text: string) {
  (field as HTMLInputElement).value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await tick();
}

export async function accessibilityProblems() {
  vi.useRealTimers();
  return axeProblems();
}

/** Registers a hook that installs a new fake host before each test. */
export function installFakeHostForEachTest(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    host.sent = [];
    host.drawn = [];
    host.handlers = { validate_form: () => ({ problems: [] }) };
    setPlatform({
      call: (name, request) => {
        host.sent.push([name, request]);
        return new Promise((answer) => answer(host.handlers[name]?.(request as never) ?? {}));
      },
      listen: () => Promise.resolve(),
      painted: () => undefined,
      consentDrawn: (id) => host.drawn.push(id),
      pageSandbox: () => Promise.resolve({ is: "native" }),
      retryPageSandbox: () => Promise.resolve(),
      listenShell: () => Promise.resolve(),
      closingShown: () => undefined,
      finishClosing: () => Promise.resolve(),
      desktopReport: () => Promise.resolve(null),
      setLoginStart: () => Promise.resolve(),
      zooms: false,
      setZoom: () => undefined,
      hasConversationWindows: false,
      openConversationWindow: () => Promise.resolve(),
      closeWindow: () => undefined,
      showRequestElsewhere: () => Promise.resolve(),
      showMainWindow: () => undefined,
      dismissStoppedApps: () => undefined,
      releaseStoppedApps: () => undefined,
      menuBar: "none",
      setMenuBar: () => undefined,
      updateReport: () => Promise.resolve(null),
      checkForUpdate: () => Promise.resolve(),
      installUpdate: () => Promise.resolve(),
      stopUpdate: () => Promise.resolve(),
      setLinkHandler: () => Promise.resolve(),
      openingDone: () => undefined,
      appUrl: (view, path) => `drawbridge-app://${view}/${path}`,
      appOrigin: (view) => `drawbridge-app://${view}`,
      firesLoadOncePerDocument: true,
    });
  });
  afterEach(() => {
    cleanup();
    vi.useRealTimers();
  });
}
