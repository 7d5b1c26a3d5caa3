// The ranges of a consent request that were in view.
import { afterEach, describe, expect, it, vi } from "vitest";

import { LayoutSnapshot, MAX_RANGES, ViewedRanges } from "./viewed-ranges";

describe("the viewed ranges", () => {
  it("cover everything once the content was scrolled through without a gap", () => {
    const viewed = new ViewedRanges();
    viewed.add(0, 400);
    viewed.add(1_600, 2_000);
    expect(viewed.missing(2_000), "both ends alone should not be sufficient").toBe(400);
    viewed.add(370, 770);
    viewed.add(740, 1_140);
    expect(viewed.missing(2_000), "the gap should become smaller").toBe(1_140);
    viewed.add(1_230, 1_630);
    expect(viewed.missing(2_000), "the gap should become smaller from its end").toBe(1_140);
    viewed.add(1_100, 1_500);
    expect(viewed.missing(2_000)).toBeNull();
  });

  it("ignore fractions of a pixel, and distinguish nothing from everything", () => {
    const viewed = new ViewedRanges();
    viewed.add(10, 10);
    expect(viewed.missing(400), "nothing should be viewed").toBe(0);
    viewed.add(0.5, 200.4);
    viewed.add(201.2, 399.5);
    expect(viewed.missing(400)).toBeNull();
    expect(new ViewedRanges().missing(0), "empty content should be complete").toBeNull();
  });

  it("are reset where the layout changed, and stay above", () => {
    const viewed = new ViewedRanges();
    viewed.add(0, 1_000);
    viewed.cut(600);
    expect(viewed.missing(1_000)).toBe(600);
    viewed.cut(0);
    expect(viewed.missing(1_000)).toBe(0);
  });

  it("are bounded, and never block permanently", () => {
    const viewed = new ViewedRanges();
    const height = 100 * (MAX_RANGES + 20);
    for (let at = 0; at < height; at += 100) viewed.add(at, at + 50);
    for (let steps = 0; steps < 2 * height; steps += 1) {
      const missing = viewed.missing(height);
      if (missing === null) break;
      viewed.add(missing, missing + 60);
    }
    expect(
      viewed.missing(height),
      "scrolling through the missing range should complete the content",
    ).toBeNull();
  });
});

describe("a layout", () => {
  /** Content whose elements are as high as the lines in their text. */
  function contentOf(html: string): HTMLElement {
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (
      this: Element,
    ) {
      return { height: (this.textContent ?? "").split(";").length } as DOMRect;
    });
    const content = document.createElement("div");
    content.innerHTML = html;
    return content;
  }

  afterEach(() => void vi.restoreAllMocks());

  it("is the same if heights are rounded differently, and if the user changed a field", () => {
    const content = contentOf(`<div><p id="field">Captain</p></div><p id="last">end</p>`);
    const layout = new LayoutSnapshot(content);
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (
      this: Element,
    ) {
      return { height: (this.textContent ?? "").split(";").length + 0.000_007 } as DOMRect;
    });
    expect(layout.changedOtherThanOwn(content), "a moved element should not count").toBe(false);
    const field = content.querySelector("#field");
    if (field) field.innerHTML = "Captain;<b>of the ship</b>";
    expect(layout.changedOtherThanOwn(content), "a grown field should count").toBe(true);
    field?.parentElement?.setAttribute("data-edited", "");
    expect(layout.changedOtherThanOwn(content), "unless the user changed it").toBe(false);
    content.querySelector("#last")?.append(";more");
    expect(layout.changedOtherThanOwn(content), "another element should still count").toBe(true);
  });

  it("distinguishes problems of fields from other changes", () => {
    const content = contentOf(`<div><p id="field">Captain</p></div><p id="last">end</p>`);
    const layout = new LayoutSnapshot(content);
    const field = content.querySelector("#field");
    field?.insertAdjacentHTML("afterend", `<p class="problem">a;<b>b</b></p>`);
    expect(layout.changedOtherThanOwn(content), "a problem should not count").toBe(false);
    const wrong = new LayoutSnapshot(content);
    content.querySelector(".problem")?.remove();
    expect(wrong.changedOtherThanOwn(content), "nor should its removal").toBe(false);
    field?.insertAdjacentHTML("afterend", `<p class="problem">a</p><p id="more">b</p>`);
    expect(layout.changedOtherThanOwn(content), "a new element should count").toBe(true);
    content.querySelector("#more")?.remove();
    expect(layout.changedOtherThanOwn(content)).toBe(false);
    if (field) field.textContent = "Captain;of the ship";
    expect(layout.changedOtherThanOwn(content), "an expanded element should count").toBe(true);
  });
});
