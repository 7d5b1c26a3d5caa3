// Props of the components of a form.

import type { Snippet } from "svelte";

import { beginning, visibleText } from "$lib/format/text-safety";

import type { Draft } from "./draft";
import type { Form } from "./form.svelte";
import type { Shape } from "./shape";

/** Props of a component that renders a part of a form. */
export interface PartProps<S extends Shape = Shape, D extends Draft = Draft> {
  form: Form;
  shape: S;
  draft: D;
  required: boolean;
  path: string;
  /** Label of the part. `null` for the root. */
  name: string | null;
}

/**
 * Props of a component that renders child parts. The parent passes their renderer, so that components do not import
 * each other in a cycle.
 */
export interface ParentProps<S extends Shape, D extends Draft> extends PartProps<S, D> {
  child: Snippet<[PartProps]>;
}

/** Returns the label of a part, shortened to one line, with hidden characters made visible. */
export function labelOf(shape: Shape, name: string | null): string {
  return visibleText(beginning(shape.title ?? name ?? "", 80, 1));
}
