import { expect, test } from "vitest";

import { splitFrontmatter } from "./frontmatter";

test("splits the front matter from the text without losing any of it", () => {
  expect(
    splitFrontmatter("---\na: 1\nb: 2\n---\n# T"),
    "the front matter should be split off",
  ).toEqual({
    ...{ head: "a: 1\nb: 2", rest: "# T" },
  });
  expect(
    splitFrontmatter("---\r\na: 1\r\n---"),
    "front matter without text should be split off",
  ).toEqual({
    ...{ head: "a: 1", rest: "" },
  });
  for (const text of ["# T\n---\n", "---\na: 1\n", "----\na\n---\n", ""])
    expect(
      splitFrontmatter(text),
      `there should be no front matter in ${JSON.stringify(text)}`,
    ).toEqual({
      head: null,
      rest: text,
    });
});
