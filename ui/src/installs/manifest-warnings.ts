// Translated texts about a bundle: its signature, and warnings about its manifest.
import type { BundleSignature, ManifestValueType, ManifestWarning } from "$lib/api/generated";

import { m } from "../paraglide/messages";

function valueTypeLabel(type: ManifestValueType): string {
  const labels = {
    text: m.installs_manifest_type_text,
    boolean: m.installs_manifest_type_boolean,
    number: m.installs_manifest_type_number,
    object: m.installs_manifest_type_object,
    list: m.installs_manifest_type_list,
  };
  return labels[type]();
}

/** Returns what is known about a signature, which nobody has verified. Contains a text of the publisher. */
export function signatureText(signature: BundleSignature): string {
  switch (signature.state) {
    case "absent":
      return m.installs_signature_absent();
    case "claimed":
      return m.installs_signature_claimed({ name: signature.name });
    case "unreadable":
      return m.installs_signature_unreadable();
  }
}

/** Returns the warning in the language of the page. Contains texts of the publisher. */
export function manifestWarningText(warning: ManifestWarning): string {
  switch (warning.is) {
    case "unknown_member":
      return m.installs_manifest_unknown_member({ member: warning.member });
    case "missing_member":
      return m.installs_manifest_missing_member({ member: warning.member });
    case "wrong_type": {
      const expected = valueTypeLabel(warning.expected);
      return m.installs_manifest_wrong_type({ member: warning.member, expected });
    }
    case "wrong_items": {
      const expected = valueTypeLabel(warning.expected);
      return m.installs_manifest_wrong_items({ member: warning.member, expected });
    }
    case "too_many_items":
      return m.installs_manifest_too_many_items({ member: warning.member, used: warning.used });
    case "truncated":
      return m.installs_manifest_truncated({ member: warning.member });
    case "unknown_manifest_version":
      return m.installs_manifest_unknown_manifest_version({ version: warning.version });
    case "uncomparable_version":
      return m.installs_manifest_uncomparable_version({ version: warning.version });
    case "unknown_setting_type":
      return m.installs_manifest_unknown_setting_type({ member: warning.member });
    case "picture_outside":
      return m.installs_manifest_picture_outside({ picture: warning.picture });
    case "translations_path":
      return m.installs_manifest_translations_path({
        member: warning.member,
        placeholder: "${locale}",
      });
  }
}
