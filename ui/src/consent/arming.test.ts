import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Arming, ARMING_DELAY_MS, isDeliberateEvent } from "./arming.svelte";

/** Returns a mouse event with this time stamp, as `Arming` reads it. */
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

  it("arms after the quiet, and not before", () => {
    arming.restart();
    pass(ARMING_DELAY_MS - 1);
    expect(arming.armed, "not armed one millisecond early").toBe(false);
    expect(arming.accepts(click(now)), "a click while arming does not approve").toBe(false);
    pass(1);
    expect(arming.armed, "armed after the quiet").toBe(true);
    expect(arming.accepts(click(now)), "a click then approves").toBe(true);
  });

  it("does not arm by itself before something is shown", () => {
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "nothing is shown, nothing is armed").toBe(false);
    arming.release("pointer");
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "input alone does not arm").toBe(false);
  });

  it("starts the quiet over at each input", () => {
    arming.restart();
    pass(ARMING_DELAY_MS - 100);
    arming.press("pointer");
    arming.release("pointer");
    pass(ARMING_DELAY_MS - 1);
    expect(arming.armed, "typing on keeps it from arming").toBe(false);
    pass(1);
    expect(arming.armed, "armed a full quiet after the last input").toBe(true);
  });

  it("does not arm while a button is held, so that letting go does not approve", () => {
    arming.restart();
    pass(100);
    arming.press("pointer");
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "a held button is not quiet").toBe(false);
    arming.release("pointer");
    expect(arming.accepts(click(now)), "the click of that press does not approve").toBe(false);
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "armed after it was let go").toBe(true);
  });

  it("does not wait for a button that came up unseen", () => {
    arming.restart();
    arming.press("pointer");
    pass(ARMING_DELAY_MS);
    arming.moved();
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "a pointer that moves with no button down holds nothing").toBe(true);
    arming.restart();
    arming.press("key");
    arming.moved();
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "a key is still held").toBe(false);
    arming.reset();
    pass(ARMING_DELAY_MS);
    expect(arming.armed, "until the window is left").toBe(true);
  });

  it("arms anew when what is shown changes under the pointer", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    arming.press("pointer");
    arming.restart();
    arming.release("pointer");
    expect(
      arming.accepts(click(now)),
      "a press begun on the old request does not approve the new one",
    ).toBe(false);
    pass(ARMING_DELAY_MS - 1);
    expect(arming.armed, "the quiet is whole again").toBe(false);
    pass(1);
    expect(arming.armed, "then it is armed").toBe(true);
  });

  it("refuses what was done before it was armed and delivered late", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    expect(
      arming.accepts(click(now - 1)),
      "a click that waited in the queue does not approve",
    ).toBe(false);
    expect(arming.ignored, "and that can be said").toBe("early");
    expect(arming.accepts(click(now)), "the next one counts").toBe(true);
    expect(arming.ignored, "and nothing is left to be said").toBeNull();
  });

  it("refuses key repeat and the second click of a double click", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    expect(arming.accepts(click(now, 2)), "a double click does not approve").toBe(false);
    const held = new KeyboardEvent("keydown", { key: "a", repeat: true });
    Object.defineProperty(held, "timeStamp", { value: now });
    expect(arming.accepts(held), "a held key does not approve").toBe(false);
    expect(
      isDeliberateEvent(new KeyboardEvent("keydown", { key: "a" })),
      "one key press is deliberate",
    ).toBe(true);
  });

  it("refuses a click where the pointer rested while what is shown changed", () => {
    arming.pointerAt(300, 400);
    arming.restart();
    pass(ARMING_DELAY_MS);
    expect(arming.accepts(click(now)), "what came under the pointer was not aimed at").toBe(false);
    expect(arming.ignored, "and that can be said").toBe("rested");
    arming.pointerAt(303, 402);
    expect(arming.accepts(click(now)), "a hand that trembles aims at nothing").toBe(false);
    arming.pointerAt(320, 400);
    arming.pointerAt(300, 400);
    expect(arming.ignored, "once it went and came back").toBeNull();
    expect(arming.accepts(click(now)), "the click is meant").toBe(true);
    arming.restart();
    pass(ARMING_DELAY_MS);
    const key = new MouseEvent("click", { detail: 0 });
    Object.defineProperty(key, "timeStamp", { value: now });
    expect(arming.accepts(key), "a button that a key presses needs no pointer").toBe(true);
    arming.touched();
    expect(arming.accepts(click(now)), "nor does a finger").toBe(true);
  });

  it("takes a press far from where the pointer rested for a move, seen or not", () => {
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
    expect(press(300, 400), "pressed where it rested").toBe(false);
    expect(press(301, 401), "or as good as there").toBe(false);
    expect(press(600, 500), "pressed elsewhere: it was aimed").toBe(true);
  });

  it("is not armed any more once nothing is shown", () => {
    arming.restart();
    pass(ARMING_DELAY_MS);
    arming.stop();
    expect(arming.armed, "stopped").toBe(false);
    pass(10 * ARMING_DELAY_MS);
    expect(arming.armed, "and stays so").toBe(false);
  });
});
