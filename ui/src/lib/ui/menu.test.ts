import { createRawSnippet } from "svelte";

import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import Menu from "./Menu.svelte";

test("the title of the button does not lie over the open menu", async () => {
  const user = userEvent.setup();
  const children = createRawSnippet(() => ({ render: () => "<span>…</span>" }));
  render(Menu, { label: "More", items: [{ label: "Remove", run: () => {} }], children });
  const button = screen.getByRole("button", { name: "More" });
  expect(button).toHaveAttribute("title", "More");
  await user.click(button);
  await screen.findByRole("menuitem", { name: "Remove" });
  expect(button).not.toHaveAttribute("title");
  await user.keyboard("{Escape}");
  await waitFor(() => expect(button).toHaveAttribute("title", "More"));
});
