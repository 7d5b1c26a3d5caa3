// State of the install sheet for servers of registries, bundles and install links. Discarded when the sheet is
// closed.
import { call, toApiError, type ApiError } from "$lib/api/client";
import type { InstallOffer, InstallSource, InstallTarget } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

import type { TextImport } from "../servers/text-import.svelte";

import { InstallForm, type UpgradedServer } from "./install-form.svelte";

class InstallSheet {
  isOpen = $state(false);
  /** Set if the user has to select a bundle file first. */
  asksForFile = $state(false);
  /** Expected SHA-256 hash of the file, as entered by the user. May be empty. */
  sha256 = $state("");
  offer = $state.raw<InstallOffer | null>(null);
  form = $state.raw<InstallForm | null>(null);
  busy = $state(false);
  error = $state.raw<ApiError | null>(null);
  /** Servers of the install link, or `null` if the sheet shows something else. */
  link = $state.raw<TextImport | null>(null);
  /** Set if another program opened the sheet, and not a click in the page. */
  isFromOutside = $state(false);
  /** Name of the installed server that another version replaces, or `null` for a new installation. */
  upgrades = $state<string | null>(null);
  #lastRequest = 0;

  /** Set while the server is being added. The sheet does not change or close then, because adding can't be undone. */
  get isInstalling(): boolean {
    return (this.form?.busy ?? false) || (this.link?.busy ?? false);
  }

  /** Shows the selection of a bundle file, for a new server or an upgrade of `upgrades`. */
  openFile(sha256 = "", upgrades: string | null = null): void {
    if (this.isInstalling) return;
    this.#reset();
    this.upgrades = upgrades;
    this.asksForFile = true;
    this.sha256 = sha256;
  }

  /** Shows the setup of a server from this source. */
  async open(source: InstallSource): Promise<void> {
    if (this.isInstalling) return;
    this.#reset();
    await this.#read(source);
  }

  /** Shows the setup of a bundle file that was opened outside of the page. */
  async openGiven(path: string): Promise<void> {
    if (this.isInstalling) return;
    const opened = this.open({ from: "bundle", path, sha256: null });
    this.isFromOutside = true;
    await opened;
  }

  /** Shows the servers of an install link that was opened outside of the page. */
  async openLink(text: string): Promise<void> {
    if (this.isInstalling) return;
    this.#reset();
    this.isFromOutside = true;
    const request = this.#lastRequest;
    const { TextImport } = await import("../servers/text-import.svelte");
    if (request !== this.#lastRequest) return;
    const link = new TextImport();
    link.text = text;
    link.pending = true;
    this.link = link;
    await link.read();
  }

  /** Shows the changes of the newest version of an installed server in the registry. */
  async openUpgrade(server: string): Promise<void> {
    if (this.isInstalling) return;
    this.#reset();
    this.upgrades = server;
    await this.#read(null);
  }

  /** The entered hash without spaces and the prefix `sha256:`. */
  get #hash(): string {
    return this.sha256.replaceAll(/\s/g, "").replace(/^sha-?256:/i, "");
  }

  /** Set if the entered hash is not a SHA-256 hash. */
  get hasBadHash(): boolean {
    return this.#hash !== "" && !/^[0-9a-f]{64}$/i.test(this.#hash);
  }

  /** Reads the bundle file at this path. If that fails, the user can select another file. */
  async chooseFile(path: string): Promise<void> {
    if (this.hasBadHash) return;
    const sha256 = this.#hash === "" ? null : this.#hash;
    await this.#read({ from: "bundle", path: path.trim(), sha256 });
  }

  /** Selects one of the packages and remotes of the server. */
  async choose(target: InstallTarget): Promise<void> {
    const source = this.offer?.source;
    if (source?.from === "registry") await this.#read({ ...source, target });
  }

  /** Reads the offer again with the values of the current form. */
  async readAgain(): Promise<void> {
    if (this.form !== null) await this.#read(this.form.source, this.form);
  }

  close(): void {
    if (this.isInstalling) return;
    this.#end();
    this.isOpen = false;
  }

  #reset(): void {
    this.#end();
    this.isOpen = true;
  }

  #end(): void {
    this.#lastRequest += 1;
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

  /** Reads an install offer. Without a source, reads that of the newest version of the server to upgrade. */
  async #readOffer(source: InstallSource | null): Promise<[InstallOffer, UpgradedServer | null]> {
    const server = this.upgrades;
    if (server !== null) {
      const { offer, ...upgrade } = await call("plan_upgrade", { server, source });
      return [offer, { server, ...upgrade }];
    }
    if (source === null) throw new Error("nothing is named to install");
    return [await call("plan_install", source), null];
  }

  async #read(source: InstallSource | null, before: InstallForm | null = null): Promise<void> {
    const request = ++this.#lastRequest;
    this.busy = true;
    this.error = null;
    try {
      const [offer, upgraded] = await this.#readOffer(source);
      if (request !== this.#lastRequest) return;
      this.form?.stop();
      this.offer = offer;
      const { plan } = offer;
      this.form = plan === null ? null : new InstallForm(offer.source, plan, before, upgraded);
      if (this.form === null) this.error = before?.error ?? null;
      this.asksForFile = false;
    } catch (cause) {
      if (request !== this.#lastRequest) return;
      this.error = toApiError(cause);
    }
    this.busy = false;
  }
}

export let installSheet: InstallSheet;
registerPageState(() => (installSheet = new InstallSheet()));
