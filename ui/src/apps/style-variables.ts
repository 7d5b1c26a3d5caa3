// Standard style variables of MCP Apps, computed from the design tokens of the page.

/** Values by variable name, in terms of the tokens in `tokens.css`. */
const VALUES: Record<string, string> = {
  "--color-background-primary": "var(--page)",
  "--color-background-secondary": "var(--sunken)",
  "--color-background-tertiary": "var(--hover)",
  "--color-background-inverse": "var(--ink)",
  "--color-background-ghost": "transparent",
  "--color-background-info": "var(--selected)",
  "--color-background-danger": "var(--danger-soft)",
  "--color-background-success": "color-mix(in srgb, var(--ok) 14%, var(--page))",
  "--color-background-warning": "var(--warn-soft)",
  "--color-background-disabled": "var(--sunken)",
  "--color-text-primary": "var(--ink)",
  "--color-text-secondary": "var(--ink-2)",
  "--color-text-tertiary": "var(--ink-2)",
  "--color-text-inverse": "var(--page)",
  "--color-text-ghost": "var(--ink-2)",
  "--color-text-info": "var(--accent)",
  "--color-text-danger": "var(--danger)",
  "--color-text-success": "var(--ok)",
  "--color-text-warning": "var(--warn)",
  "--color-text-disabled": "var(--control-line)",
  "--color-border-primary": "var(--control-line)",
  "--color-border-secondary": "var(--line-color)",
  "--color-border-tertiary": "var(--hover)",
  "--color-border-inverse": "var(--ink)",
  "--color-border-ghost": "transparent",
  "--color-border-info": "var(--accent)",
  "--color-border-danger": "var(--danger)",
  "--color-border-success": "var(--ok)",
  "--color-border-warning": "var(--warn)",
  "--color-border-disabled": "var(--line-color)",
  "--color-ring-primary": "var(--accent)",
  "--color-ring-secondary": "var(--control-line)",
  "--color-ring-inverse": "var(--page)",
  "--color-ring-info": "var(--accent)",
  "--color-ring-danger": "var(--danger)",
  "--color-ring-success": "var(--ok)",
  "--color-ring-warning": "var(--warn)",
  "--font-sans": "var(--font)",
  "--font-mono": "var(--font-mono)",
  "--font-weight-normal": "400",
  "--font-weight-medium": "500",
  "--font-weight-semibold": "var(--weight-strong)",
  "--font-weight-bold": "700",
  "--font-text-xs-size": "var(--text-s)",
  "--font-text-sm-size": "var(--text-s)",
  "--font-text-md-size": "var(--text-m)",
  "--font-text-lg-size": "var(--text-l)",
  "--font-heading-xs-size": "var(--text-m)",
  "--font-heading-sm-size": "var(--text-l)",
  "--font-heading-md-size": "var(--text-l)",
  "--font-heading-lg-size": "var(--text-xl)",
  "--font-heading-xl-size": "var(--text-xl)",
  "--font-heading-2xl-size": "var(--text-xxl)",
  "--font-heading-3xl-size": "var(--text-xxl)",
  "--font-text-xs-line-height": "var(--line)",
  "--font-text-sm-line-height": "var(--line)",
  "--font-text-md-line-height": "var(--line)",
  "--font-text-lg-line-height": "var(--line)",
  "--font-heading-xs-line-height": "var(--line-tight)",
  "--font-heading-sm-line-height": "var(--line-tight)",
  "--font-heading-md-line-height": "var(--line-tight)",
  "--font-heading-lg-line-height": "var(--line-tight)",
  "--font-heading-xl-line-height": "var(--line-tight)",
  "--font-heading-2xl-line-height": "var(--line-tight)",
  "--font-heading-3xl-line-height": "var(--line-tight)",
  "--border-radius-xs": "var(--s1)",
  "--border-radius-sm": "var(--radius)",
  "--border-radius-md": "var(--radius)",
  "--border-radius-lg": "var(--radius-l)",
  "--border-radius-xl": "var(--radius-l)",
  "--border-radius-full": "9999px",
  "--border-width-regular": "1px",
  "--shadow-hairline": "0 0 0 1px var(--line-color)",
  "--shadow-sm": "0 1px 3px var(--scrim)",
  "--shadow-md": "0 4px 12px var(--scrim)",
  "--shadow-lg": "var(--shadow)",
};

/** Returns all standard variables with values that do not refer to tokens. Colors are those of `theme`. */
export function styleVariables(theme: "light" | "dark"): Record<string, string> {
  const tokens = getComputedStyle(document.documentElement);
  // Computed values of custom properties contain `light-dark()`. Other properties of an element resolve it.
  const probe = document.createElement("div");
  probe.style.colorScheme = theme;
  probe.style.display = "none";
  document.body.append(probe);
  const computed = getComputedStyle(probe);
  const known = new Map<string, string>();
  const resolve = (name: string, value: string) => {
    const property = resolvingProperty(name);
    const token = substitute(value, tokens);
    if (property === null) return token;
    probe.style.setProperty(property, value);
    return computed.getPropertyValue(property) || token;
  };
  const variables = Object.entries(VALUES).map(([name, value]) => {
    const key = `${resolvingProperty(name)} ${value}`;
    const resolved = known.get(key) ?? resolve(name, value);
    known.set(key, resolved);
    return [name, resolved];
  });
  probe.remove();
  return Object.fromEntries(variables) as Record<string, string>;
}

/** Returns the CSS property whose computed value resolves a variable, or `null` if its tokens are plain values. */
function resolvingProperty(name: string): string | null {
  if (name.startsWith("--color-")) return "color";
  return name.startsWith("--shadow-") ? "box-shadow" : null;
}

function substitute(value: string, tokens: CSSStyleDeclaration): string {
  return value.replace(/var\((--[\w-]+)\)/g, (_, token: string) =>
    tokens.getPropertyValue(token).trim(),
  );
}
