// Elements that cover the consent requests of the open conversation.
import { raisedApp } from "../apps/raised-app.svelte";
import { isConsentOpen } from "../consent";

/** Returns `true` while the consent dialog or a raised app covers the inline requests, which take no input then. */
export function isInlineCovered(): boolean {
  return isConsentOpen() || raisedApp.current !== null;
}
