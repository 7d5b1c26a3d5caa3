// Sentences of the host, which begin with a lower-case letter because they may follow a colon.

/** Words that begin a sentence. Other words may be names of programs, fields or files, which are unchanged. */
const FIRST =
  /^(?:an?|another|can|can't|cannot|could|expected|it|its|no|not|only|that|the|there|these|this|your)(?=[\s,])/;

/** Returns the text with a capital first letter if it begins with an ordinary word. */
export function sentence(text: string): string {
  return FIRST.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
