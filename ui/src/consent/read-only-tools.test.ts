// The choice to allow read-only tools together.
import { screen } from "@testing-library/svelte";
import { flushSync } from "svelte";
import { expect, it } from "vitest";

import { consentRequest, toolBody } from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  moveToRequest,
  pressKey,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const tools = ["read_file", "list_folder"];
const request = consentRequest(
  { ...toolBody({}), readOnlyTools: tools } as ReturnType<typeof toolBody>,
  {
    scopes: ["once", "session", "always"],
  },
);
const allowReadOnlyToolsBox = () =>
  screen.getByRole("checkbox", { name: "Allow read-only tools of files" });

it("names the tools, and states that the claim can't be verified", async () => {
  renderRequests(request);
  expect(allowReadOnlyToolsBox()).not.toBeChecked();
  expect(
    screen.getByText(
      "files declares that these tools only read and do not reach other systems. Drawbridge can't check that.",
    ),
  ).toBeVisible();
  for (const name of tools) expect(screen.getByText(name)).toBeVisible();
  expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
});

it("allows exactly the listed tools, and has a matching button", async () => {
  renderRequests(request);
  await waitUntilArmed();
  await clickElement(allowReadOnlyToolsBox());
  expect(
    screen.queryByRole("button", { name: "Allow once" }),
    "there should be one button to allow",
  ).toBeNull();
  await clickElement(button("Allow these 2 tools"));
  expect(sentDecisions(), "the buttons should be armed again after they moved").toEqual([]);
  await waitUntilArmed();
  await clickElement(button("Allow these 2 tools"));
  expect(sentDecisions()).toEqual([
    { id: "q1", hash: "h1", answer: { action: "allow_read_only", tools } },
  ]);
});

it("is allowed by A and denied by D while the check box has the focus", async () => {
  const { set } = renderRequests(request);
  await waitUntilArmed();
  allowReadOnlyToolsBox().focus();
  await clickElement(allowReadOnlyToolsBox());
  await pressKey("a", allowReadOnlyToolsBox());
  expect(sentDecisions(), "the key should have no effect while arming").toEqual([]);
  await waitUntilArmed();
  await pressKey("a", allowReadOnlyToolsBox());
  set({ ...request, id: "q2" });
  await waitUntilArmed();
  await moveToRequest(allowReadOnlyToolsBox());
  await pressKey("d", allowReadOnlyToolsBox());
  expect(sentDecisions()).toEqual([
    { id: "q1", hash: "h1", answer: { action: "allow_read_only", tools } },
    { id: "q2", hash: "h1", answer: { action: "deny" } },
  ]);
});

it("an unchecked choice allows the call alone", async () => {
  renderRequests(request);
  await clickElement(allowReadOnlyToolsBox());
  await clickElement(allowReadOnlyToolsBox());
  await waitUntilArmed();
  await clickElement(button("Allow once"));
  expect(sentDecisions()).toEqual([
    { id: "q1", hash: "h1", answer: { action: "allow", scope: "once" } },
  ]);
});

it("is absent without such tools", () => {
  renderRequests(consentRequest(toolBody({}), { scopes: ["once", "session", "always"] }));
  expect(screen.queryByRole("checkbox")).toBeNull();
});

it("the choice ends when the request no longer lists all of its tools", async () => {
  const { set } = renderRequests(request);
  await clickElement(allowReadOnlyToolsBox());
  const changed = { ...toolBody({}), readOnlyTools: ["read_file"] } as ReturnType<typeof toolBody>;
  flushSync(() =>
    set(consentRequest(changed, { hash: "h2", scopes: ["once", "session", "always"] })),
  );
  expect(allowReadOnlyToolsBox()).not.toBeChecked();
  await waitUntilArmed();
  await clickElement(button("Allow once"));
  expect(sentDecisions()).toEqual([
    { id: "q1", hash: "h2", answer: { action: "allow", scope: "once" } },
  ]);
});
