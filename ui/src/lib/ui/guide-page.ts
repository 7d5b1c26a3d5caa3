/** Matches a link from one page of the user guide to another. The first group is the name of the page. */
export const GUIDE_PAGE_LINK = /^([a-z][a-z-]*)\.md$/;
