import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import { startFake } from "$lib/testing/fake";

import MediaView from "./MediaView.svelte";

const text = (words: string): number[] => Array.from(words, (c) => c.charCodeAt(0));
const big = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

function png(side: number, moves = false): string {
  const size = [...big(13), ...text("IHDR"), ...big(side), ...big(side), 8, 6, 0, 0, 0];
  const film = moves ? [...big(8), ...text("acTL"), ...big(9), ...big(0), ...big(0)] : [];
  const end = [...big(0), ...big(0), ...text("IDAT")];
  const bytes = [
    0x89,
    ...text("PNG\r\n\x1a\n"),
    ...size,
    ...(moves ? big(0) : []),
    ...film,
    ...end,
  ];
  return btoa(String.fromCharCode(...bytes));
}

const picture = (side: number, moves = false) =>
  render(MediaView, { kind: "image", data: png(side, moves), mimeType: "image/png" });

beforeEach(async () => {
  await startFake();
});

test("X19: pictures together are bounded; more are drawn when the user wants them", async () => {
  const shown = Array.from({ length: 20 }, () => picture(4_000));
  expect(screen.getAllByRole("img"), "32 of 40 million pixels").toHaveLength(2);
  const [third] = screen.getAllByRole("button", { name: "Show picture" });
  if (third) await userEvent.click(third);
  expect(screen.getAllByRole("img"), "another one, as it was wanted").toHaveLength(3);
  for (const { unmount } of shown) unmount();
  picture(4_000);
  expect(screen.getByRole("img"), "those that are gone count no more").toBeVisible();
});

test("X19: a picture that moves waits for the user", async () => {
  picture(16, true);
  expect(screen.queryByRole("img"), "it does not play").toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Show moving picture" }));
  expect(screen.getByRole("img"), "it plays").toBeVisible();
});
