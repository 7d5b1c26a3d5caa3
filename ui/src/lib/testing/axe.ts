// Looks for what a screen reader or the keyboard can't use.
import axe from "axe-core";

/** What axe finds in an element, one line each; empty when all is well. Colours need a real browser. */
export async function axeProblems(element: Element = document.body): Promise<string[]> {
  const { violations } = await axe.run(element, {
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
  });
  return violations.map(
    (violation) =>
      `${violation.id}: ${violation.help} (${violation.nodes.map((n) => n.html).join(" | ")})`,
  );
}
