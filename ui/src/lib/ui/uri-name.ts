/** Returns the last meaningful segment of a URI's path, to derive a name. Returns the complete URI if there is none. */
export function uriName(uri: string): string {
  const path = uri.split(/[?#]/, 1)[0] ?? "";
  const part = path.split("/").findLast((one) => one !== "") ?? uri;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
