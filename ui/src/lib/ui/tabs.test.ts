import { render, screen } from "@testing-library/svelte";
import { createRawSnippet, tick } from "svelte";
import { expect, test } from "vitest";

import Tabs from "./Tabs.svelte";

test("a row of tabs shows at which end tabs are cut off", async () => {
  const tabs = ["one", "two", "three"].map((id) => ({ id, label: id }));
  const panel = createRawSnippet<[string]>(() => ({ render: () => "<p>panel</p>" }));
  render(Tabs, { tabs, value: "one", label: "Parts", panel });
  const list = screen.getByRole("tablist", { name: "Parts" });
  Object.defineProperties(list, {
    clientWidth: { value: 100 },
    scrollWidth: { value: 300 },
    scrollLeft: { value: 0, writable: true },
  });
  for (const [left, start, end] of [
    [0, false, true],
    [100, true, true],
    [200, true, false],
  ] as const) {
    list.scrollLeft = left;
    list.dispatchEvent(new Event("scroll"));
    await tick();
    expect(list.classList.contains("cut-at-start"), `start at ${left}`).toBe(start);
    expect(list.classList.contains("cut-at-end"), `end at ${left}`).toBe(end);
  }
});
