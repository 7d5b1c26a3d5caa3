import { expect, test } from "vitest";

import { splitFrontmatter } from "./frontmatter";

test("splits the front matter from the text without losing any of it", () => {
  expect(splitFrontmatter("---\na: 1\nb: 2\n---\n# T"), "a header").toEqual({
    ...{ head: "a: 1\nb: 2", rest: "# T" },
  });
  expect(splitFrontmatter("---\r\na: 1\r\n---"), "with nothing behind it").toEqual({
    ...{ head: "a: 1", rest: "" },
  });
  for (const text of ["# T\n---\n", "---\na: 1\n", "----\na\n---\n", ""])
    expect(splitFrontmatter(text), `none in ${JSON.stringify(text)}`).toEqual({
      head: null,
      rest: text,
    });
});
