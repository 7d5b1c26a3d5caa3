import { afterEach, beforeEach, expect, it } from "vitest";

import { visibleEdges } from "./visible-edges";

let frame: HTMLElement;
let end: HTMLElement;

/** Adds an element with this box to the page. */
function add(box: [left: number, top: number, right: number, bottom: number], covers?: string) {
  const [left, top, right, bottom] = box;
  const element = document.createElement("div");
  const rect = { ...{ left, top, right, bottom }, width: right - left, height: bottom - top };
  element.getBoundingClientRect = () => rect as DOMRect;
  if (covers !== undefined) element.dataset.covers = covers;
  document.body.append(element);
  return element;
}

beforeEach(() => {
  // The environment of the tests computes no default.
  for (const root of [document.documentElement, document.body]) root.style.overflowY = "visible";
  frame = add([100, 50, 500, 600]);
  end = add([100, 600, 500, 600]);
});
afterEach(() => document.body.replaceChildren());

const edges = () => visibleEdges(frame, end);

it("are all visible without a note over the page", () => {
  expect(edges()).toEqual({ start: true, end: true, top: 0, bottom: window.innerHeight });
});

it("end below a note at the top, and above one at the bottom", () => {
  add([400, 20, 900, 120], "top");
  expect(edges()).toMatchObject({ start: false, end: true, top: 120, bottom: window.innerHeight });
  add([400, 550, 900, 700], "bottom");
  expect(edges()).toMatchObject({ start: false, end: false, top: 120, bottom: 550 });
});

it.each([
  ["beside the request", [500, 20, 900, 120], "top"],
  ["that is empty", [100, 120, 900, 120], "top"],
  ["above the window", [100, -90, 900, 0], "top"],
  ["below the window", [100, 9_000, 900, 9_100], "bottom"],
] as const)("are not affected by a note %s", (_, box, covers) => {
  add([...box], covers);
  expect(edges()).toEqual({ start: true, end: true, top: 0, bottom: window.innerHeight });
});

it("are not affected in a dialog, which lies over the notes", () => {
  const dialog = add([0, 0, 900, 700]);
  dialog.setAttribute("role", "dialog");
  dialog.style.overflowY = "visible";
  dialog.append(frame, end);
  add([400, 20, 900, 120], "top");
  expect(edges()).toMatchObject({ start: true, top: 0 });
});
