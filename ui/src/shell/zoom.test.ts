import { fireEvent, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test, vi } from "vitest";

import App from "../App.svelte";
import { keyNames } from "$lib/format/keys";
import { router } from "$lib/state/router.svelte";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { zoomAfterStep, ZOOM_PERCENTS } from "./zoom";

const user = userEvent.setup();

beforeEach(() => {
  history.replaceState(null, "", "#/settings");
  router.current = { at: "settings" };
});

/** Applies the zoom that the page requests, as the desktop shell does. */
function follow(host: FakeHost) {
  host.answers.set_settings = (settings) => {
    host.send({ type: "settings_changed", settings });
    return {};
  };
}

/** Dispatches a wheel event. The wheel events of the test DOM have no modifier keys. */
function turnWheel(deltaY: number, ctrlKey: boolean) {
  const event = new WheelEvent("wheel", { deltaY, cancelable: true });
  Object.defineProperties(event, { ctrlKey: { value: ctrlKey }, metaKey: { value: false } });
  window.dispatchEvent(event);
}

describe("E11: zoom", () => {
  test("moves between steps within the bounds", () => {
    const out: number[] = [];
    for (let at = 200; out.length < 20; at = zoomAfterStep(at, "out")) out.push(at);
    expect(out.slice(0, ZOOM_PERCENTS.length), "all of them").toEqual(ZOOM_PERCENTS.toReversed());
    expect(new Set(out.slice(ZOOM_PERCENTS.length)), "and no further").toEqual(new Set([50]));
    expect(zoomAfterStep(103, "in"), "from a size of its own to the next step").toBe(110);
    expect(zoomAfterStep(103, "reset")).toBe(100);
    expect(keyNames("Mod++", false), "the plus is a key as well").toEqual(["Ctrl", "+"]);
  });

  test("changes by keys and wheel, and is stored and restored", async () => {
    const host = await startFakeHost();
    follow(host);
    render(App);
    expect(host.drawnIn, "as it was kept").toEqual([100]);
    for (const init of [
      { key: "+", shiftKey: true },
      { key: "=" },
      { key: "Unidentified", code: "NumpadAdd" },
    ]) {
      await fireEvent.keyDown(window, { ...init, ctrlKey: true });
    }
    await vi.waitFor(() => expect(host.drawnIn).toEqual([100, 110, 125, 150]));
    await fireEvent.keyDown(window, { key: "-", ctrlKey: true });
    await fireEvent.keyDown(window, { key: "-", code: "NumpadSubtract", ctrlKey: true });
    await vi.waitFor(() => expect(host.drawnIn.at(-1)).toBe(110));
    turnWheel(120, true);
    await vi.waitFor(() => expect(host.drawnIn.at(-1), "a notch to oneself").toBe(100));
    turnWheel(-30, true);
    turnWheel(-30, true);
    await vi.waitFor(() => expect(host.drawnIn.at(-1), "two half notches").toBe(110));
    await fireEvent.keyDown(window, { key: "à", code: "Digit0", ctrlKey: true });
    await vi.waitFor(() => expect(host.drawnIn.at(-1)).toBe(100));
    const before = host.drawnIn.length;
    turnWheel(-120, false);
    await fireEvent.keyDown(window, { key: "+" });
    await fireEvent.keyDown(window, { key: "+", ctrlKey: true, altKey: true });
    await user.keyboard("x");
    expect(host.drawnIn.length, "nothing else does it").toBe(before);
    expect(host.requests("set_settings").at(-1)?.zoom, "kept").toBe(100);
  });

  test("is in the view menu and in Settings, with the current value", async () => {
    const host = await startFakeHost();
    follow(host);
    render(App);
    await user.selectOptions(await screen.findByLabelText("Zoom"), "200 %");
    await vi.waitFor(() => expect(host.drawnIn.at(-1)).toBe(200));
    await user.click(screen.getByRole("button", { name: "View (200 %)" }));
    const closer = await screen.findByRole("menuitem", { name: "Zoom in" });
    expect(closer, "the end").toHaveAttribute("aria-disabled", "true");
    await user.click(screen.getByRole("menuitem", { name: "Actual size (now 200 %)" }));
    await vi.waitFor(() => expect(host.drawnIn.at(-1)).toBe(100));
    expect(screen.getByLabelText<HTMLSelectElement>("Zoom").value).toBe("100");
  });
});
