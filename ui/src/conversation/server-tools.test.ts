import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { ConversationTool } from "$lib/api/generated";

import ServerTools from "./ServerTools.svelte";

function tool(name: string, state: ConversationTool["state"]): ConversationTool {
  return { server: "files", tool: name, key: `files__${name}`, tokens: 90, state };
}

test("a tool that is disabled in the settings is listed with the reason, and can't be selected", async () => {
  const user = userEvent.setup();
  const chosen: (string[] | null)[] = [];
  const tools = [tool("read", "offered"), tool("list", "off"), tool("delete", "disabled")];
  render(ServerTools, {
    server: "files",
    tools,
    onchoose: (names: string[] | null) => chosen.push(names),
  });
  await user.click(screen.getByRole("button", { name: /files/ }));
  const off = screen.getByRole("checkbox", { name: "delete" });
  expect(off).toBeDisabled();
  expect(off).not.toBeChecked();
  expect(off).toHaveAccessibleDescription("turned off in the settings");
  await user.click(screen.getByRole("checkbox", { name: "list" }));
  expect(chosen, "the disabled tool should stay disabled if the settings enable it later").toEqual([
    ["read", "list"],
  ]);
});

test("E5: each tool shows how many tokens its definition takes", async () => {
  const tools = [tool("read", "offered"), { ...tool("list", "off"), tokens: 1_650 }];
  render(ServerTools, { server: "files", tools, onchoose: () => {} });
  await userEvent.click(screen.getByRole("button", { name: /files/ }));
  expect(screen.getByRole("checkbox", { name: "read" })).toHaveAccessibleDescription(/\b90 tokens/);
  expect(screen.getByRole("checkbox", { name: "list" })).toHaveAccessibleDescription(
    /\b1,?650 tokens/,
  );
});

test("a server whose tools are all enabled has no separate choice", async () => {
  const user = userEvent.setup();
  const chosen: (string[] | null)[] = [];
  render(ServerTools, {
    server: "files",
    tools: [tool("read", "offered"), tool("list", "off")],
    onchoose: (names: string[] | null) => chosen.push(names),
  });
  await user.click(screen.getByRole("button", { name: /files/ }));
  await user.click(screen.getByRole("checkbox", { name: "list" }));
  expect(chosen).toEqual([null]);
});
