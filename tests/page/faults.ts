// Exceptions and logged errors of the page. Errors in the frames of apps are caused by their servers, and are ignored.
import type { ConsoleMessage, Page } from "@playwright/test";

/** Host name of the documents of a shown app. */
const APP_HOST = /^[0-9a-f]{32}\.localhost$/;

/** Records the faults of a page from now on. Returns the list to which they are added. */
export function recordFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    // An HTTP error is a response of the host, which the page shows.
    const isResponse = message.text().includes("Failed to load resource");
    if (message.type() === "error" && !isResponse && !isFromApp(message)) faults.push(message.text());
  });
  return faults;
}

function isFromApp(message: ConsoleMessage): boolean {
  const { url } = message.location();
  return URL.canParse(url) && APP_HOST.test(new URL(url).hostname);
}
