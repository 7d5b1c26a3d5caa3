/** Link from one page of the user guide to another: its file name. */
export const GUIDE_PAGE = /^([a-z][a-z-]*)\.md$/;
