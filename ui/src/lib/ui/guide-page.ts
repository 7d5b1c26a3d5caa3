/** How a page of the user guide names another one in a link: by its file, as it lies beside it. */
export const GUIDE_PAGE = /^([a-z][a-z-]*)\.md$/;
