// Pictures that servers give for what they offer.

import type { Icon } from "$lib/api/generated";

/** Larger pictures are not shown, in characters of the URL. */
const LARGEST = 64_000;
const SHOWN = /^data:image\/(png|jpeg|webp)[;,]/i;

/** The first that can be shown: one that comes with the list, so that nothing is fetched; no drawing, no film. */
export function iconOf(icons: Icon[]): string | null {
  return icons.find(({ src }) => src.length <= LARGEST && SHOWN.test(src))?.src ?? null;
}
