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
    expect(out.slice(0, ZOOM_PERCENTS.length), "all steps should be reached").toEqual(
      ZOOM_PERCENTS.toReversed(),
    );
    expect(
      new Set(out.slice(ZOOM_PERCENTS.length)),
      "the zoom should not fall below the minimum",
    ).toEqual(new Set([50]));
    expect(zoomAfterStep(103, "in"), "the next step should follow a custom zoom").toBe(110);
    expect(zoomAfterStep(103, "reset")).toBe(100);
    expect(keyNames("Mod++", false), "the plus key should be separate").toEqual(["Ctrl", "+"]);
  });

  test("changes by keys and wheel, and is stored and restored", async () => {
    const host = await startFakeHost();
    follow(host);
    render(App);
    expect(host.zoomValues, "the stored zoom should be applied").toEqual([100]);
    for (const init of [
      { key: "+", shiftKey: true },
      { key: "=" },
      { key: "Unidentified", code: "NumpadAdd" },
    ]) {
      await fireEvent.keyDown(window, { ...init, ctrlKey: true });
    }
    await vi.waitFor(() => expect(host.zoomValues).toEqual([100, 110, 125, 150]));
    await fireEvent.keyDown(window, { key: "-", ctrlKey: true });
    await fireEvent.keyDown(window, { key: "-", code: "NumpadSubtract", ctrlKey: true });
    await vi.waitFor(() => expect(host.zoomValues.at(-1)).toBe(110));
    turnWheel(120, true);
    await vi.waitFor(() =>
      expect(host.zoomValues.at(-1), "a whole notch should change the zoom by a step").toBe(100),
    );
    turnWheel(-30, true);
    turnWheel(-30, true);
    await vi.waitFor(() =>
      expect(host.zoomValues.at(-1), "two half notches should change the zoom by a step").toBe(110),
    );
    await fireEvent.keyDown(window, { key: "à", code: "Digit0", ctrlKey: true });
    await vi.waitFor(() => expect(host.zoomValues.at(-1)).toBe(100));
    const before = host.zoomValues.length;
    turnWheel(-120, false);
    await fireEvent.keyDown(window, { key: "+" });
    await fireEvent.keyDown(window, { key: "+", ctrlKey: true, altKey: true });
    await user.keyboard("x");
    expect(host.zoomValues.length, "other input should not change the zoom").toBe(before);
    expect(host.requests("set_settings").at(-1)?.zoom, "the zoom should be stored").toBe(100);
  });

  test("is in the view menu and in Settings, with the current value", async () => {
    const host = await startFakeHost();
    follow(host);
    render(App);
    await user.selectOptions(await screen.findByLabelText("Zoom"), "200%");
    await vi.waitFor(() => expect(host.zoomValues.at(-1)).toBe(200));
    await user.click(screen.getByRole("button", { name: "View (200%)" }));
    const closer = await screen.findByRole("menuitem", { name: "Zoom in" });
    expect(closer, "the maximum should disable the button").toHaveAttribute(
      "aria-disabled",
      "true",
    );
    await user.click(screen.getByRole("menuitem", { name: "Actual size (now 200%)" }));
    await vi.waitFor(() => expect(host.zoomValues.at(-1)).toBe(100));
    expect(screen.getByLabelText<HTMLSelectElement>("Zoom").value).toBe("100");
  });
});
