// Providers that refused a request of a conversation because no key was entered. A local provider may need none, so
// only such a refusal shows that its key is missing.
import { SvelteSet } from "svelte/reactivity";

import { registerPageState } from "$lib/page-state";

/** Ids of the providers. Those that have a key by now do not count. */
export let refusedWithoutKey: SvelteSet<string>;
registerPageState(() => (refusedWithoutKey = new SvelteSet()));
