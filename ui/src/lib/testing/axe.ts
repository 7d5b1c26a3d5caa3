// Runs axe on rendered elements.
import axe from "axe-core";

/**
 * Returns the accessibility problems of an element, one line each. Colors are not checked, because that requires a real
 * browser.
 */
export async function axeProblems(element: Element = document.body): Promise<string[]> {
  const { violations } = await axe.run(element, {
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
    // Other results are not read. Describing them takes long.
    resultTypes: ["violations"],
    selectors: false,
  });
  return violations.map(
    (violation) =>
      `${violation.id}: ${violation.help} (${violation.nodes.map((n) => n.html).join(" | ")})`,
  );
}
