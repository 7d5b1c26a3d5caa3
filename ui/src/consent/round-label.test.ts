import { expect, test } from "vitest";

import type { ConsentRequest } from "$lib/api/generated";

import { consentRequest, toolBody } from "./fixtures";
import { roundLabel } from "./round-label";

const of = (id: string, call: string, round: number | null = null): ConsentRequest =>
  consentRequest(toolBody({}), {
    id,
    round,
    why: { by: "call", call, kind: "tool", name: "plan" },
  });

test("a first request alone has no label", () => {
  const one = of("1", "a", 1);
  expect(roundLabel(one, [one, of("2", "b", 3)]), "another call's is none of its").toBeNull();
  const alone = consentRequest(toolBody({}), { round: 2 });
  expect(roundLabel(alone, [alone, alone]), "of no call").toBeNull();
});

test("later rounds and other pending requests are counted", () => {
  const one = of("1", "a", 2);
  expect(roundLabel(one, [one]), "asked again").toBe("Round 2 of this call.");
  expect(roundLabel(one, [one, of("2", "a", 2)]), "and not alone").toBe(
    "Round 2 of this call. 1 more request from the same call is waiting.",
  );
  const first = of("3", "a", 1);
  expect(roundLabel(first, [first, one, of("2", "a")]), "in a first round").toBe(
    "2 more requests from the same call are waiting.",
  );
});
