// Sentences of the host, which begin with a lower-case letter because they may follow a colon.

/** Words that begin a sentence. Other words may be names of programs, fields or files, which are unchanged. */
const FIRST_WORD_OF_SENTENCE =
  /^(?:an?|another|can|can't|cannot|could|expected|it|its|no|not|only|that|the|there|these|this|your)(?=[\s,])/;

/** Returns `true` if the text begins with an ordinary word, which is shown with a capital first letter. */
export function isSentence(text: string): boolean {
  return FIRST_WORD_OF_SENTENCE.test(text);
}
