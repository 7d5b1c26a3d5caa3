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
      "as given",
    ).toEqual(["1", "2", "3"]);
    expect(pick.chosen?.id, "the first is chosen").toBe("1");
  });

  it("ranks a match in the name before one in the description", () => {
    const pick = new FilteredList(() => items);
    pick.type("summ");
    expect(
      pick.shown.map((i) => i.id),
      "name first",
    ).toEqual(["1", "3"]);
  });

  it("matches letters that are apart", () => {
    const pick = new FilteredList(() => items);
    pick.type("trns");
    expect(pick.chosen?.id, "fuzzy").toBe("2");
  });

  it("wraps around at both ends with the arrow keys", () => {
    const pick = new FilteredList(() => items);
    pick.move(-1);
    expect(pick.chosen?.id, "before the first is the last").toBe("3");
    pick.move(1);
    expect(pick.chosen?.id, "after the last is the first").toBe("1");
    pick.move(1);
    pick.type("t");
    expect(pick.active, "typing starts at the best match").toBe(0);
  });

  it("selects nothing when nothing matches", () => {
    const pick = new FilteredList(() => items);
    pick.type("zzz");
    pick.move(1);
    expect(pick.chosen, "nothing").toBeNull();
  });

  it("shows a bounded number of items, and finds the rest by typing", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => ({
      id: `${i}`,
      words: [`tool number ${i}`],
    }));
    const pick = new FilteredList(() => many);
    expect(pick.shown.length, "bounded").toBe(MAX_SHOWN_ITEMS);
    pick.type("number 4999");
    expect(pick.chosen?.id, "found").toBe("4999");
  });

  it("maps the keys of a list", () => {
    expect(pickListKey("ArrowDown"), "down").toEqual({ move: 1 });
    expect(pickListKey("Enter"), "take").toBe("take");
    expect(pickListKey("Escape"), "close").toBe("close");
    expect(pickListKey("x"), "typing").toBeNull();
  });
});
