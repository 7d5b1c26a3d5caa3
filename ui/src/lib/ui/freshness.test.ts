import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { failures } from "$lib/state/failures.svelte";
import { axeProblems } from "$lib/testing/axe";

import Freshness from "./Freshness.svelte";

beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true }));
afterEach(() => void vi.useRealTimers());

test("counts down while the data is fresh, and shows when it no longer is", async () => {
  render(Freshness, {
    until: Date.now() + 40_000,
    label: "Again",
    onrefresh: () => Promise.resolve(1),
  });
  expect(
    screen.getByText("cached, valid for 40 s"),
    "the remaining time should be derived from the time to live",
  ).toBeVisible();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(
    screen.getByText("cached, valid for 37 s"),
    "the remaining time should decrease",
  ).toBeVisible();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(screen.getByText("cached, expired"), "the data should be shown as expired").toBeVisible();
});

test("refreshes on request, and shows a failure", async () => {
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTimeAsync });
  const onrefresh = vi.fn(() => Promise.reject(new Error("gone")));
  render(Freshness, { until: null, label: "Ask again", onrefresh });
  expect(screen.queryByText(/cached/), "nothing should be shown without a time to live").toBeNull();
  await user.click(screen.getByRole("button", { name: "Ask again" }));
  expect(onrefresh, "the data should be refreshed once").toHaveBeenCalledOnce();
  expect(failures.list.at(-1)?.cause, "the failure should be recorded").toMatchObject({
    message: "gone",
  });
  expect(
    screen.getByRole("button", { name: "Ask again" }),
    "the button should be enabled again",
  ).toBeEnabled();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  failures.list = [];
});
