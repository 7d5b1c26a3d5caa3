import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import App from "../App.svelte";
import { details } from "$lib/state/details.svelte";
import { router } from "$lib/state/router.svelte";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";
import StateMark from "$lib/ui/StateMark.svelte";

import { overlay } from "./overlay.svelte";

const user = userEvent.setup();
const demo = sampleServer({ name: "demo", state: { is: "stopped" }, approved: false });

beforeEach(() => {
  history.replaceState(null, "", "#/welcome");
  router.current = { at: "welcome" };
  overlay.palette = overlay.shortcuts = overlay.left = false;
});

describe("the outer columns", () => {
  const viewport = (width: number) => {
    (window as unknown as { happyDOM: { setViewport(size: object): void } }).happyDOM.setViewport({
      width,
      height: 600,
    });
  };
  afterEach(() => {
    viewport(1024);
    details.close();
  });

  test("are columns in a wide window", async () => {
    await startFakeHost({}, { servers: [demo] });
    render(App);
    details.show("About demo", StateMark, { state: { is: "ready" } });
    const aside = await screen.findByRole("complementary", { name: "About demo" });
    expect(within(aside).getByText("ready"), "the component should get its props").toBeVisible();
    await user.click(within(aside).getByRole("button", { name: "Close details" }));
    expect(screen.queryByRole("complementary"), "the column should be closed").toBeNull();
    details.show("About demo", StateMark, { state: { is: "ready" } });
    await user.click(screen.getByRole("link", { name: "demo stopped" }));
    await waitFor(() => expect(details.current, "another view should hide the details").toBeNull());
  });

  test("are sheets in a narrow one", async () => {
    viewport(700);
    await startFakeHost({}, { servers: [demo] });
    render(App);
    expect(screen.queryByRole("navigation"), "the left column should be in a menu").toBeNull();
    await user.click(screen.getByRole("button", { name: "Menu" }));
    const sheet = await screen.findByRole("dialog", { name: "Menu" });
    await user.click(within(sheet).getByRole("link", { name: "demo stopped" }));
    await waitFor(() =>
      expect(
        screen.queryByRole("navigation"),
        "the sheet should close after a selection",
      ).toBeNull(),
    );
    details.show("About demo", StateMark, { state: { is: "ready" } });
    expect(
      await screen.findByRole("dialog", { name: "About demo" }),
      "the details should be a sheet",
    ).toBeVisible();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(details.current, "Escape should close the details").toBeNull());
  });
});
