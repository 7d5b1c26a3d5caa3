/** The context of what an item is made of: says whether a search led to the item. */
export const SEARCH_HIT = Symbol("found");
