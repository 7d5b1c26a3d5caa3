// A server whose start the user or a rule refused.
import { cleanup, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type { StartRefusal } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import Overview from "./Overview.svelte";
import ServerHeader from "./ServerHeader.svelte";

afterEach(() => cleanup());

/** Message of the host that the page need not show. */
const MESSAGE = "its start was not approved";

function refused(refusal: StartRefusal, message = MESSAGE, hint: string | null = null) {
  const lists = { stderr: [], searchedFolders: [] };
  return sampleServer({
    state: { is: "failed", reason: "refused", message, hint, refusal, ...lists },
  });
}

test.each([
  ["denied_by_user", "You denied the start."],
  ["closed_by_user", "You closed the request to start it without a decision."],
] as const)("is stopped and not failed: %s", async (refusal, title) => {
  const server = refused(refusal);
  const host = await startFakeHost({}, { servers: [server] });
  render(ServerHeader, { server });
  render(Overview, { server });
  expect(screen.getAllByText("stopped")).toHaveLength(2);
  expect(screen.queryByText("failed")).toBeNull();
  expect(screen.getByText(title)).toBeVisible();
  expect(screen.queryByText(MESSAGE, { exact: false }), "nothing should be repeated").toBeNull();
  const buttons = screen.getAllByRole("button", { name: "Start" });
  expect(buttons, "the header and the note should offer the start").toHaveLength(2);
  await userEvent.click(buttons[1] as HTMLElement);
  expect(host.requests("start_server")).toEqual([{ server: server.name }]);
});

test("names the version that it runs next, if another one was denied", async () => {
  const hint = "Start it again to run 1.2.0.";
  const server = refused("denied_by_user", MESSAGE, hint);
  await startFakeHost({}, { servers: [server] });
  render(Overview, { server });
  expect(screen.getByText("You denied the start.")).toBeVisible();
  expect(screen.getByText(hint)).toBeVisible();
});

test("has failed if a rule denies the start, and names the rule", async () => {
  const server = refused("denied_by_rule", "its start was refused by rule 3");
  await startFakeHost({}, { servers: [server] });
  render(Overview, { server });
  expect(screen.getByText("failed")).toBeVisible();
  expect(screen.getByText("A rule denied its start")).toBeVisible();
  expect(screen.getByText(/its start was refused by rule 3/i)).toBeVisible();
  expect(screen.queryByText("You denied the start.")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Open Rules" }));
  expect(router.current).toMatchObject({ at: "rules" });
});
