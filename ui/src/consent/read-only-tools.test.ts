// The choice to allow read-only tools together.
import { screen } from "@testing-library/svelte";
import { expect, it } from "vitest";

import { consentRequest, tool } from "./fixtures";
import { answers, arm, button, click, eachWithHost, faults, show } from "./test-harness.svelte";

eachWithHost();

const tools = ["read_file", "list_folder"];
const request = consentRequest({ ...tool({}), readOnlyTools: tools } as ReturnType<typeof tool>, {
  scopes: ["once", "session", "always"],
});
const box = () => screen.getByRole("checkbox", { name: "Allow read-only tools of files" });

it("names the tools, and says that the claim can't be checked", async () => {
  show(request);
  expect(box()).not.toBeChecked();
  expect(
    screen.getByText("files says that these tools only read. Drawbridge can't check that."),
  ).toBeVisible();
  for (const name of tools) expect(screen.getByText(name)).toBeVisible();
  expect(await faults(), "axe finds nothing").toEqual([]);
});

it("allows exactly the tools that are listed, with a button that says so", async () => {
  show(request);
  await arm();
  await click(box());
  expect(screen.queryByRole("button", { name: "Allow once" }), "one button").toBeNull();
  await click(button("Allow these 2 tools"));
  expect(answers(), "the buttons moved, so they have to be armed again").toEqual([]);
  await arm();
  await click(button("Allow these 2 tools"));
  expect(answers()).toEqual([
    { id: "q1", hash: "h1", answer: { action: "allow_read_only", tools } },
  ]);
});

it("an unchecked choice allows the call alone", async () => {
  show(request);
  await click(box());
  await click(box());
  await arm();
  await click(button("Allow once"));
  expect(answers()).toEqual([{ id: "q1", hash: "h1", answer: { action: "allow", scope: "once" } }]);
});

it("is absent without such tools", () => {
  show(consentRequest(tool({}), { scopes: ["once", "session", "always"] }));
  expect(screen.queryByRole("checkbox")).toBeNull();
});
