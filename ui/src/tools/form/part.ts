// Props of the components of a form.

import type { Snippet } from "svelte";

import { textBeginning, visibleText } from "$lib/format/text-safety";

import type { PartDraft } from "./draft";
import type { SchemaFormState } from "./form.svelte";
import type { Shape } from "./shape";

/** Props of a component that renders a part of a form. */
export interface PartProps<S extends Shape = Shape, D extends PartDraft = PartDraft> {
  form: SchemaFormState;
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
export interface ParentProps<S extends Shape, D extends PartDraft> extends PartProps<S, D> {
  child: Snippet<[PartProps]>;
}

/** Returns the label of a part, shortened to one line, with hidden characters made visible. */
export function partLabelOf(shape: Shape, name: string | null): string {
  return visibleText(textBeginning(shape.title ?? name ?? "", 80, 1));
}
