import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { settle } from "$lib/testing/settle";

import { guardFocus, TAB_LIMIT } from "./focus-guard";

let field: HTMLInputElement;
/** Element in place of a frame, because the test environment loads no frames. */
let frame: HTMLElement;
let end: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  field = document.createElement("input");
  const content = document.createElement("div");
  frame = document.createElement("div");
  frame.tabIndex = 0;
  content.append(frame);
  document.body.append(field, content);
  field.focus();
  end = guardFocus(frame);
});
afterEach(() => end());

/** Focuses the frame as a browser does, which reports it to the window. */
async function focusFrame() {
  window.dispatchEvent(new Event("blur"));
  frame.focus();
  await settle();
}
const isFrameFocused = () => document.activeElement === frame;

const press = (key: string) => window.dispatchEvent(new KeyboardEvent("keydown", { key }));

describe("a frame that takes the focus", () => {
  test("loses it without an action of the user", async () => {
    await focusFrame();
    expect(document.activeElement, "the field should be focused again").toBe(field);
    press("x");
    await focusFrame();
    expect(document.activeElement, "another key should not matter").toBe(field);
  });

  test("keeps it after a click", async () => {
    frame.dispatchEvent(new Event("pointerenter"));
    await focusFrame();
    expect(isFrameFocused()).toBe(true);
    frame.dispatchEvent(new Event("pointerleave"));
    await focusFrame();
    expect(isFrameFocused(), "the frame should stay focused when the window returns").toBe(true);
  });

  test("loses it after the pointer has left", async () => {
    frame.dispatchEvent(new Event("pointerenter"));
    frame.dispatchEvent(new Event("pointerleave"));
    await focusFrame();
    expect(isFrameFocused()).toBe(false);
  });

  test.each([
    [TAB_LIMIT, true],
    [TAB_LIMIT + 1, false],
  ])("%i ms after Tab keeps it: %j", async (delay, isKept) => {
    press("Tab");
    await vi.advanceTimersByTimeAsync(delay);
    await focusFrame();
    expect(isFrameFocused()).toBe(isKept);
  });

  test("loses it while it takes no input", async () => {
    frame.dispatchEvent(new Event("pointerenter"));
    frame.parentElement?.setAttribute("inert", "");
    await focusFrame();
    expect(isFrameFocused()).toBe(false);
  });
});
