/** The last part of a URI's path that says something, to propose a name from; the whole URI if none does. */
export function uriName(uri: string): string {
  const path = uri.split(/[?#]/, 1)[0] ?? "";
  const part = path.split("/").findLast((one) => one !== "") ?? uri;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
