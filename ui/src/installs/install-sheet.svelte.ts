// The one sheet for servers of registries, bundles and links from outside: what it is about, and how far the user came. Nothing of it is kept once it is closed.
import { call, toApiError, type ApiError } from "$lib/api/client";
import type { InstallOffer, InstallSource, InstallTarget } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

import type { TextImport } from "../servers/text-import.svelte";

import { InstallForm, type Upgraded } from "./install-form.svelte";

class InstallSheet {
  isOpen = $state(false);
  /** The file of a bundle is asked for first. */
  asksForFile = $state(false);
  /** The hash that the file must have, where somebody said so. */
  sha256 = $state("");
  offer = $state.raw<InstallOffer | null>(null);
  form = $state.raw<InstallForm | null>(null);
  busy = $state(false);
  error = $state.raw<ApiError | null>(null);
  /** What a link asks for, if the sheet is about one. */
  link = $state.raw<TextImport | null>(null);
  /** Somebody outside of the page had it opened, not a click in it. */
  isFromOutside = $state(false);
  /** The installed server whose place another version takes; none if a new one is added. */
  upgrades = $state<string | null>(null);
  #asked = 0;

  /** The server is being added, which can't be undone: until that is done, the sheet stays and is about nothing else. */
  get isInstalling(): boolean {
    return (this.form?.busy ?? false) || (this.link?.busy ?? false);
  }

  /** Asks which file is to be installed, or holds another version of an installed server. */
  openFile(sha256 = "", upgrades: string | null = null): void {
    if (this.isInstalling) return;
    this.#begin();
    this.upgrades = upgrades;
    this.asksForFile = true;
    this.sha256 = sha256;
  }

  /** Shows what would be set up from this source. */
  async open(source: InstallSource): Promise<void> {
    if (this.isInstalling) return;
    this.#begin();
    await this.#read(source);
  }

  /** Shows what is in a bundle's file that was opened outside of the page. */
  async openGiven(path: string): Promise<void> {
    if (this.isInstalling) return;
    const opened = this.open({ from: "bundle", path, sha256: null });
    this.isFromOutside = true;
    await opened;
  }

  /** Shows what an install link asks for that came from outside. */
  async openLink(text: string): Promise<void> {
    if (this.isInstalling) return;
    this.#begin();
    this.isFromOutside = true;
    const asked = this.#asked;
    const { TextImport } = await import("../servers/text-import.svelte");
    if (asked !== this.#asked) return;
    const link = new TextImport();
    link.text = text;
    link.pending = true;
    this.link = link;
    await link.read();
  }

  /** Shows what the newest version would change that the registry lists of an installed server. */
  async openUpgrade(server: string): Promise<void> {
    if (this.isInstalling) return;
    this.#begin();
    this.upgrades = server;
    await this.#read(null);
  }

  /** The hash without what it is often written with: the name of the function, and spaces. */
  get #hash(): string {
    return this.sha256.replaceAll(/\s/g, "").replace(/^sha-?256:/i, "");
  }

  /** Whether a hash is entered that no file can have. */
  get hasBadHash(): boolean {
    return this.#hash !== "" && !/^[0-9a-f]{64}$/i.test(this.#hash);
  }

  /** Takes the file that was asked for. If it can't be read, another can be named. */
  async chooseFile(path: string): Promise<void> {
    if (this.hasBadHash) return;
    const sha256 = this.#hash === "" ? null : this.#hash;
    await this.#read({ from: "bundle", path: path.trim(), sha256 });
  }

  /** Chooses one of several packages and remotes. */
  async choose(target: InstallTarget): Promise<void> {
    const source = this.offer?.source;
    if (source?.from === "registry") await this.#read({ ...source, target });
  }

  /** Reads anew what would be set up, after it has changed. */
  async readAgain(): Promise<void> {
    if (this.form !== null) await this.#read(this.form.source, this.form);
  }

  close(): void {
    if (this.isInstalling) return;
    this.#end();
    this.isOpen = false;
  }

  #begin(): void {
    this.#end();
    this.isOpen = true;
  }

  #end(): void {
    this.#asked += 1;
    this.form?.stop();
    this.form = null;
    this.offer = null;
    this.asksForFile = false;
    this.sha256 = "";
    this.link = null;
    this.isFromOutside = false;
    this.upgrades = null;
    this.error = null;
    this.busy = false;
  }

  /** What is offered; without a source the newest version of the server that is upgraded. */
  async #ask(source: InstallSource | null): Promise<[InstallOffer, Upgraded | null]> {
    const server = this.upgrades;
    if (server !== null) {
      const { offer, ...upgrade } = await call("upgrade_offer", { server, source });
      return [offer, { server, ...upgrade }];
    }
    if (source === null) throw new Error("nothing is named to install");
    return [await call("install_offer", source), null];
  }

  async #read(source: InstallSource | null, before: InstallForm | null = null): Promise<void> {
    const asked = ++this.#asked;
    this.busy = true;
    this.error = null;
    try {
      const [offer, upgraded] = await this.#ask(source);
      if (asked !== this.#asked) return;
      this.form?.stop();
      this.offer = offer;
      const { plan } = offer;
      this.form = plan === null ? null : new InstallForm(offer.source, plan, before, upgraded);
      if (this.form === null) this.error = before?.error ?? null;
      this.asksForFile = false;
    } catch (cause) {
      if (asked !== this.#asked) return;
      this.error = toApiError(cause);
    }
    this.busy = false;
  }
}

export let installSheet: InstallSheet;
pageState(() => (installSheet = new InstallSheet()));
