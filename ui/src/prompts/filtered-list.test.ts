import { describe, expect, it } from "vitest";

import { pickListKey, FilteredList, MAX_SHOWN_ITEMS } from "./filtered-list.svelte";

const items = [
  { id: "1", words: ["summarize", "Makes a text short"] },
  { id: "2", words: ["translate", "Puts a text into another language"] },
  { id: "3", words: ["plan_trip", "Plans a journey; can summarize"] },
];

describe("a filtered list", () => {
  it("shows all items in order at first", () => {
    const pick = new FilteredList(() => items);
    expect(
      pick.shown.map((i) => i.id),
      "the order should be unchanged",
    ).toEqual(["1", "2", "3"]);
    expect(pick.chosen?.id, "the first item should be selected").toBe("1");
  });

  it("ranks a match in the name before one in the description", () => {
    const pick = new FilteredList(() => items);
    pick.type("summ");
    expect(
      pick.shown.map((i) => i.id),
      "matches in the name should be first",
    ).toEqual(["1", "3"]);
  });

  it("matches letters that are apart", () => {
    const pick = new FilteredList(() => items);
    pick.type("trns");
    expect(pick.chosen?.id, "the letters should match").toBe("2");
  });

  it("wraps around at both ends with the arrow keys", () => {
    const pick = new FilteredList(() => items);
    pick.move(-1);
    expect(pick.chosen?.id, "the last item should precede the first").toBe("3");
    pick.move(1);
    expect(pick.chosen?.id, "the first item should follow the last").toBe("1");
    pick.move(1);
    pick.type("t");
    expect(pick.active, "typing should select the best match").toBe(0);
  });

  it("selects nothing when nothing matches", () => {
    const pick = new FilteredList(() => items);
    pick.type("zzz");
    pick.move(1);
    expect(pick.chosen, "nothing should be selected").toBeNull();
  });

  it("shows a bounded number of items, and finds the rest by typing", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => ({
      id: `${i}`,
      words: [`tool number ${i}`],
    }));
    const pick = new FilteredList(() => many);
    expect(pick.shown.length, "the number of items should be bounded").toBe(MAX_SHOWN_ITEMS);
    pick.type("number 4999");
    expect(pick.chosen?.id, "the item should be found").toBe("4999");
  });

  it("maps the keys of a list", () => {
    expect(pickListKey("ArrowDown"), "ArrowDown should move down").toEqual({ move: 1 });
    expect(pickListKey("Enter"), "Enter should select").toBe("take");
    expect(pickListKey("Escape"), "Escape should close").toBe("close");
    expect(pickListKey("x"), "other keys should be typed").toBeNull();
  });
});
