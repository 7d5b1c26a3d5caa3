import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import { axeProblems } from "$lib/testing/axe";
import { startFakeHost } from "$lib/testing/fake-host";

import ContentView from "./ContentView.svelte";
import MediaView from "./MediaView.svelte";

const ascii = (words: string): number[] => Array.from(words, (c) => c.charCodeAt(0));
const uint32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

function png(side: number, moves = false): string {
  const size = [...uint32(13), ...ascii("IHDR"), ...uint32(side), ...uint32(side), 8, 6, 0, 0, 0];
  const film = moves
    ? [...uint32(8), ...ascii("acTL"), ...uint32(9), ...uint32(0), ...uint32(0)]
    : [];
  const end = [...uint32(0), ...uint32(0), ...ascii("IDAT")];
  const bytes = [
    0x89,
    ...ascii("PNG\r\n\x1a\n"),
    ...size,
    ...(moves ? uint32(0) : []),
    ...film,
    ...end,
  ];
  return btoa(String.fromCharCode(...bytes));
}

const renderPicture = (side: number, moves = false) =>
  render(MediaView, { kind: "image", data: png(side, moves), mimeType: "image/png" });

beforeEach(async () => {
  await startFakeHost();
});

test("X19: bounds the total size of pictures, and renders more on request", async () => {
  const shown = Array.from({ length: 20 }, () => renderPicture(4_000));
  expect(
    screen.getAllByRole("img"),
    "two pictures should fit into the limit of 32 million pixels",
  ).toHaveLength(2);
  const [third] = screen.getAllByRole("button", { name: "Show image" });
  if (third) await userEvent.click(third);
  expect(screen.getAllByRole("img"), "another picture should be rendered on request").toHaveLength(
    3,
  );
  for (const { unmount } of shown) unmount();
  renderPicture(4_000);
  expect(screen.getByRole("img"), "removed pictures should not be counted").toBeVisible();
});

test("X19: renders an animated picture on request only", async () => {
  renderPicture(16, true);
  expect(screen.queryByRole("img"), "the picture should not be rendered at first").toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Show animated image" }));
  expect(screen.getByRole("img"), "the picture should be rendered on request").toBeVisible();
});

test("E21: saves pictures, sounds and other bytes by the host, also those that can't be rendered", async () => {
  const host = await startFakeHost({ save_media: () => ({ path: "/home/ann/chart.png" }) });
  const data = png(16);
  render(ContentView, { content: { type: "image", data, mimeType: "image/png" }, title: "chart" });
  await userEvent.click(screen.getByRole("button", { name: "Save chart…" }));
  expect(host.requests("save_media")).toEqual([{ title: "chart", mimeType: "image/png", data }]);
  expect(await screen.findByText("Saved as /home/ann/chart.png")).toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  host.answers.save_media = () => Promise.reject({ code: "system", message: "the disk is full" });
  await userEvent.click(screen.getByRole("button", { name: "Save chart…" }));
  expect(await screen.findByText("the disk is full"), "the error should be shown").toBeVisible();
  const contents = {
    uri: "file:///a/b%20c.pdf?x",
    mimeType: "application/pdf",
    text: null,
    blob: "AAEC",
  };
  render(ContentView, { content: { type: "resource", contents }, title: "chart" });
  await userEvent.click(screen.getByRole("button", { name: "Save b c.pdf…" }));
  expect(host.requests("save_media").at(-1)).toEqual({
    ...{ title: "b c.pdf", mimeType: "application/pdf", data: "AAEC" },
  });
});

test("E21: offers no saving in consent requests", () => {
  render(ContentView, { content: { type: "image", data: png(16), mimeType: "image/png" } });
  expect(screen.queryByRole("button", { name: /^Save/ })).toBeNull();
});
