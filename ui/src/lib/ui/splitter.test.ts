// Resizable edge of a pane.
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, test } from "vitest";

import { resetPageState } from "$lib/page-state";

import { paneWidths } from "./panes.svelte";
import Splitter from "./Splitter.svelte";

afterEach(() => cleanup());

test("E14: resizes a pane by keyboard and pointer within its bounds", async () => {
  const element = document.createElement("div");
  element.getBoundingClientRect = () => ({ width: paneWidths.list.chosen ?? 300 }) as DOMRect;
  render(Splitter, { label: "Resize", pane: paneWidths.list, element, least: 200, most: 640 });
  const edge = screen.getByRole("separator", { name: "Resize" });
  await fireEvent.keyDown(edge, { key: "ArrowRight" });
  expect(paneWidths.list.chosen, "an arrow key should widen the pane by a step").toBe(316);
  await fireEvent.keyDown(edge, { key: "ArrowLeft" });
  expect(paneWidths.list.chosen, "the other arrow key should narrow the pane").toBe(300);
  await fireEvent.keyDown(edge, { key: "End" });
  expect(paneWidths.list.chosen, "End should select the maximum width").toBe(640);
  await fireEvent.keyDown(edge, { key: "ArrowRight" });
  expect(paneWidths.list.chosen, "the width should not exceed the maximum").toBe(640);
  await fireEvent.keyDown(edge, { key: "Home" });
  expect(paneWidths.list.chosen).toBe(200);
  await fireEvent.keyDown(edge, { key: "Enter" });
  expect(paneWidths.list.chosen, "Enter should restore the default width").toBeNull();

  edge.setPointerCapture = () => undefined;
  await fireEvent.pointerDown(edge, { button: 0, clientX: 300, pointerId: 1 });
  await fireEvent.pointerMove(edge, { clientX: 350, pointerId: 1 });
  expect(paneWidths.list.chosen, "the width should follow the pointer").toBe(350);
  await fireEvent.pointerUp(edge, { pointerId: 1 });
  await fireEvent.pointerMove(edge, { clientX: 500, pointerId: 1 });
  expect(paneWidths.list.chosen, "the width should not follow the pointer after the release").toBe(
    350,
  );
});

test("E14: restores the width of a pane after a restart", () => {
  paneWidths.left.chosen = 333;
  resetPageState();
  expect(paneWidths.left.chosen, "the width should be restored").toBe(333);
  expect(paneWidths.list.chosen, "the width of another pane should be unchanged").toBeNull();
  paneWidths.left.chosen = null;
  resetPageState();
  expect(paneWidths.left.chosen, "the default width should be restored").toBeNull();
  localStorage.setItem("pane left", "1e9");
  resetPageState();
  expect(paneWidths.left.chosen, "an invalid width should be ignored").toBeNull();
});
