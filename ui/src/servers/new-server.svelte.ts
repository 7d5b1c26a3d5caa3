// Input of the page to add servers. It remains while the page is open, so that the user can look something up elsewhere.
import { registerPageState } from "$lib/page-state";

import { ServerDraft } from "./draft.svelte";
import { TextImport } from "./text-import.svelte";

class NewServer {
  tab = $state<"paste" | "form">("paste");
  /** Fields of the form. */
  draft = $state.raw(new ServerDraft());
  /** Pasted text, with the servers found in it. */
  pasted = $state.raw(new TextImport());

  /** Empties the form, after its server was added. */
  clearForm(): void {
    this.draft = new ServerDraft();
  }

  /** Removes the pasted text, after its servers were added. */
  clearText(): void {
    this.pasted = new TextImport();
  }
}

export let newServer: NewServer;
registerPageState(() => (newServer = new NewServer()));
