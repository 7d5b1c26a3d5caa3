// What each component of a form is given: one part of it.

import type { Snippet } from "svelte";

import { beginning, visibleText } from "$lib/format/text-safety";

import type { Draft } from "./draft";
import type { Form } from "./form.svelte";
import type { Shape } from "./shape";

/** A part of a form, to be drawn. */
export interface PartProps<S extends Shape = Shape, D extends Draft = Draft> {
  form: Form;
  shape: S;
  draft: D;
  required: boolean;
  path: string;
  /** What it is called where it stands; nothing for the whole. */
  name: string | null;
}

/** A part that has parts. They are drawn by whoever draws this one, so that no component imports the one that imports it. */
export interface ParentProps<S extends Shape, D extends Draft> extends PartProps<S, D> {
  child: Snippet<[PartProps]>;
}

/** What a part is called, short and with nothing hidden in it. */
export function labelOf(shape: Shape, name: string | null): string {
  return visibleText(beginning(shape.title ?? name ?? "", 80, 1));
}
