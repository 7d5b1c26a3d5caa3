// Labels for the reasons why a package's version is unknown.

import type { UnknownPackage } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

export function unknownPackageLabel({ reason, detail }: UnknownPackage): string {
  const about = visibleText(detail);
  switch (reason) {
    case "shell_line":
      return m.consent_package_unknown_shell_line();
    case "wrapped":
      return m.consent_package_unknown_wrapped({ about });
    case "option":
      return m.consent_package_unknown_option({ about });
    case "specifier":
      return m.consent_package_unknown_specifier({ about });
    case "several":
      return m.consent_package_unknown_several();
    case "no_package":
      return m.consent_package_unknown_no_package();
    case "launcher":
      return m.consent_package_unknown_launcher({ about });
    case "variable":
      return m.consent_package_unknown_variable({ about });
    case "project_settings":
      return m.consent_package_unknown_project_settings({ about });
    case "local_copy":
      return m.consent_package_unknown_local_copy({ about });
    case "off_search_path":
      return m.consent_package_unknown_off_search_path({ about });
    case "no_client":
      return m.consent_package_unknown_no_client({ about });
    case "no_network":
      return m.consent_package_unknown_no_network();
    case "timed_out":
      return m.consent_package_unknown_timed_out({ about });
    case "failed":
      return m.consent_package_unknown_failed({ about });
  }
}
