// Contents of the right column.
import type { Component, ComponentProps } from "svelte";

import { registerPageState } from "$lib/page-state";

interface Shown {
  title: string;
  component: Component<Record<string, unknown>>;
  props: Record<string, unknown>;
}

class Details {
  current = $state.raw<Shown | null>(null);

  /** Shows a component in the right column, in place of the previous one. */
  show<P extends ComponentProps<Component>>(
    title: string,
    component: Component<P>,
    props: NoInfer<P>,
  ): void {
    this.current = {
      title,
      component: component as unknown as Component<Record<string, unknown>>,
      props,
    };
  }

  close(): void {
    this.current = null;
  }
}

export let details: Details;
registerPageState(() => (details = new Details()));
