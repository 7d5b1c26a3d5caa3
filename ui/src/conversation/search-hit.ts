/** Context key: a function that returns `true` if a search result points to the item. */
export const SEARCH_HIT_CONTEXT = Symbol("found");
