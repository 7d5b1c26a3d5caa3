import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Arming, ARMING_DELAY_MS, isDeliberateEvent } from "./arming.svelte";

/** Creates a click event. `at` is its time stamp in milliseconds, `detail` is the number of clicks in a row. */
function click(at: number, detail = 1): MouseEvent {
  const event = new MouseEvent("click", { detail });
  Object.defineProperty(event, "timeStamp", { value: at });
  return event;
}

describe("arming", () => {
  let now = 0;
  let arming: Arming;

  function pass(ms: number): void {
    now += ms;
    vi.advanceTimersByTime(ms);
  }

  beforeEach(() => {
    vi.useFakeTimers();
    now = 0;
    arming = new Arming(() => now);
  });
  afterEach(() => vi.useRealTimers());

  it("arms after the quiet period, and not before", () => {
    arming.restart();
    pass(ARMING_DELAY_MS - 1);
    expect(arming.armed, "the request should not be armed one millisecond too early").toBe(false);
    expect(
      arming.accepts(click(now)),
      "a click should not approve while the request is arming",
    ).toBe(false);
    pass(1);
    expect(arming.armed, "the request should be armed after the quiet period").toBe(true);
    expect(arming.accepts(click(now)), "a click should approve the armed request").toBe(true);
  });

  it("does not arm before a request is shown", () => {
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "nothing should be armed if nothing is shown").toBe(false);
    arming.release("pointer");
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "input alone should not arm").toBe(false);
  });

  it("restarts the quiet period after each input", () => {
    arming.restart();
    pass(ARMING_DELAY_MS - 100);
    arming.press("pointer");
    arming.release("pointer");
    pass(ARMING_DELAY_MS - 1);
    expect(arming.armed, "typing should delay the arming").toBe(false);
    pass(1);
    expect(
      arming.armed,
      "the request should be armed after a full quiet period without input",
    ).toBe(true);
  });

  it("does not arm while a button is pressed, so that releasing it does not approve", () => {
    arming.restart();
    pass(100);
    arming.press("pointer");
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "a pressed button should delay the arming").toBe(false);
    arming.release("pointer");
    expect(arming.accepts(click(now)), "the click of that press should not approve").toBe(false);
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "the request should be armed after the release").toBe(true);
  });

  it("does not wait for a button whose release was not observed", () => {
    arming.restart();
    arming.press("pointer");
    pass(ARMING_DELAY_MS);
    arming.moved();
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "a pointer that moves without a pressed button should end the press").toBe(
      true,
    );
    arming.restart();
    arming.press("key");
    arming.moved();
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "a pressed key should delay the arming").toBe(false);
    arming.reset();
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "leaving the window should end all presses").toBe(true);
  });

  it("is armed again when the request changes under the pointer", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    arming.press("pointer");
    arming.restart();
    arming.release("pointer");
    expect(
      arming.accepts(click(now)),
      "a press that began on the previous request should not approve the new one",
    ).toBe(false);
    pass(ARMING_DELAY_MS - 1);
    expect(arming.armed, "the quiet period should start again").toBe(false);
    pass(1);
    expect(arming.armed, "the request should be armed after the quiet period").toBe(true);
  });

  it("rejects input that was made before the arming and delivered late", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    expect(arming.accepts(click(now - 1)), "a queued click should not approve").toBe(false);
    expect(arming.ignored, "the reason should be reported").toBe("early");
    expect(arming.accepts(click(now)), "the next click should approve").toBe(true);
    expect(arming.ignored, "the reason should be cleared").toBeNull();
  });

  it("rejects key repeat and the second click of a double click", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    expect(arming.accepts(click(now, 2)), "a double click should not approve").toBe(false);
    const repeated = new KeyboardEvent("keydown", { key: "a", repeat: true });
    Object.defineProperty(repeated, "timeStamp", { value: now });
    expect(arming.accepts(repeated), "a repeated key should not approve").toBe(false);
    expect(
      isDeliberateEvent(new KeyboardEvent("keydown", { key: "a" })),
      "a single key press should be deliberate",
    ).toBe(true);
  });

  it("rejects a click where the pointer rested while the request changed", () => {
    arming.pointerAt(300, 400);
    arming.restart();
    pass(ARMING_DELAY_MS);
    expect(
      arming.accepts(click(now)),
      "a click on content that moved under the pointer should not approve",
    ).toBe(false);
    expect(arming.ignored, "the reason should be reported").toBe("rested");
    arming.pointerAt(303, 402);
    expect(arming.accepts(click(now)), "a small movement should not count as aiming").toBe(false);
    arming.pointerAt(320, 400);
    arming.pointerAt(300, 400);
    expect(arming.ignored, "the reason should be cleared after a deliberate movement").toBeNull();
    expect(arming.accepts(click(now)), "a click after a deliberate movement should approve").toBe(
      true,
    );
    arming.restart();
    pass(ARMING_DELAY_MS);
    const key = new MouseEvent("click", { detail: 0 });
    Object.defineProperty(key, "timeStamp", { value: now });
    expect(
      arming.accepts(key),
      "a button that is pressed by key should need no pointer movement",
    ).toBe(true);
    arming.touched();
    expect(arming.accepts(click(now)), "a touch should need no pointer movement").toBe(true);
  });

  it("treats a press far from the resting position as a deliberate movement", () => {
    arming.pointerAt(300, 400);
    arming.restart();
    pass(ARMING_DELAY_MS);
    // A pen or an automation tool may press without having moved over the page.
    const press = (x: number, y: number) => {
      arming.pointerAt(x, y);
      arming.press("pointer");
      arming.release("pointer");
      return arming.accepts(click(now));
    };
    expect(press(300, 400), "a press at the resting position should be rejected").toBe(false);
    expect(press(301, 401), "a press next to the resting position should be rejected").toBe(false);
    expect(press(600, 500), "a press elsewhere should be accepted").toBe(true);
  });

  it("is disarmed once nothing is shown", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    arming.stop();
    expect(arming.armed, "the request should be disarmed").toBe(false);
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "the request should stay disarmed").toBe(false);
  });
});
