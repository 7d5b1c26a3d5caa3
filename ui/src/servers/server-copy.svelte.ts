// Copies the settings of a server in a format of other apps, or a link that adds it to Drawbridge.
import { call } from "$lib/api/client";
import type {
  ExportOmissions,
  OmittedSetting,
  SecretPlace,
  ServerExportForm,
} from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";
import { formatList } from "$lib/format/lists";
import { ClipboardCopy } from "$lib/state/clipboard.svelte";
import { failures } from "$lib/state/failures.svelte";
import { languageTag } from "$lib/state/locale.svelte";

import { importPlaceLabel } from "../other-apps/import-labels";
import { m } from "../paraglide/messages";

/** Text that was copied, or that the system refused to copy. */
export interface CopiedServer {
  server: string;
  form: ServerExportForm;
  omissions: ExportOmissions;
  /** Text to copy by hand, or `null` if it is in the clipboard. */
  refused: string | null;
}

export class ServerCopy {
  last = $state.raw<CopiedServer | null>(null);

  async copy(server: string, form: ServerExportForm): Promise<void> {
    this.last = null;
    try {
      const { text, omissions } = await call("export_server", { server, form });
      const clipboard = new ClipboardCopy();
      await clipboard.copy(text);
      this.last = { server, form, omissions, refused: clipboard.refused };
    } catch (cause) {
      const isLink = form === "link" || form === "link_markdown";
      failures.add(cause, isLink ? m.servers_copy_link_failed() : undefined);
    }
  }

  close(): void {
    this.last = null;
  }
}

export function copiedTitle(form: ServerExportForm): string {
  const titles = {
    mcp_servers: m.servers_copied_json,
    vs_code: m.servers_copied_json_vs_code,
    link: m.servers_copied_link,
    link_markdown: m.servers_copied_link_markdown,
  };
  return titles[form]();
}

function settingLabel(setting: OmittedSetting): string {
  const labels = {
    working_folder: m.servers_omitted_working_folder,
    sandbox: m.servers_omitted_sandbox,
    sign_in: m.servers_omitted_sign_in,
    revision: m.servers_omitted_revision,
    tools: m.servers_omitted_tools,
  };
  return labels[setting]();
}

function secretPlaceLabel(place: SecretPlace): string {
  switch (place.is) {
    case "sign_in":
    case "sandbox":
      return settingLabel(place.is);
    default:
      return importPlaceLabel(place);
  }
}

/** Returns one sentence for each kind of omission. */
export function omissionTexts(omissions: ExportOmissions): string[] {
  const list = (texts: string[]) => formatList(texts.map(visibleText), languageTag());
  const { name, secrets, removed, settings, localPaths } = omissions;
  const texts: string[] = [];
  if (secrets.length > 0) texts.push(m.servers_copied_secrets({ names: list(secrets) }));
  if (removed.length > 0) {
    texts.push(m.servers_copied_removed({ places: list(removed.map(secretPlaceLabel)) }));
  }
  if (settings.length > 0) {
    texts.push(m.servers_copied_settings({ settings: list(settings.map(settingLabel)) }));
  }
  if (name !== null) texts.push(m.servers_copied_name({ name: visibleText(name) }));
  if (localPaths.length > 0) texts.push(m.servers_copied_paths({ paths: list(localPaths) }));
  return texts;
}
