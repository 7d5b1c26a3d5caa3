// Sanitizes HTML: only text formatting, pictures as data URLs, and links that are shown before they open.
import DOMPurify from "dompurify";

import { safePictureUrl } from "./safe-picture";
import { GUIDE_PAGE_LINK } from "./guide-page";

const KEPT_TAGS = [
  ..."a b blockquote br code del dd dl dt em h1 h2 h3 h4 h5 h6 hr i img input kbd li ol p pre s".split(
    " ",
  ),
  ..."samp span strong sub sup table tbody td tfoot th thead tr ul var".split(" "),
];
const KEPT_ATTRIBUTES = [
  "href",
  "src",
  "alt",
  "title",
  "start",
  "align",
  "class",
  "type",
  "checked",
  "disabled",
];

/** Attribute of a link that contains its target, in place of `href`. */
export const LINK_TARGET_ATTRIBUTE = "data-leads-to";
/** Attribute of a link in the user guide that contains the name of another page. */
export const GUIDE_TARGET_ATTRIBUTE = "data-leads-to-page";
/** Maximum number of characters of the URL that replaces a picture. */
const MAX_PICTURE_URL_CHARACTERS = 200;

const purify = DOMPurify(window);
/** Set while the user guide is sanitized. In other texts, links to guide pages are removed. */
let isGuide = false;
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "IMG") {
    // A remote picture would notify its server that it was viewed.
    const source = node.getAttribute("src") ?? "";
    const src = safePictureUrl(source);
    if (src === null) {
      const words = node.getAttribute("alt") || source.slice(0, MAX_PICTURE_URL_CHARACTERS);
      node.replaceWith(node.ownerDocument.createTextNode(words));
    } else node.setAttribute("src", src);
  }
  if (node.tagName === "A") {
    // Without `href`, every way to follow a link goes through `SafeHtml`.
    const href = node.getAttribute("href") ?? "";
    node.removeAttribute("href");
    const page = isGuide ? GUIDE_PAGE_LINK.exec(href)?.[1] : undefined;
    if (page !== undefined) node.setAttribute(GUIDE_TARGET_ATTRIBUTE, page);
    else if (/^(https?:|mailto:)/i.test(href)) node.setAttribute(LINK_TARGET_ATTRIBUTE, href);
    if (node.hasAttribute(LINK_TARGET_ATTRIBUTE) || page !== undefined) {
      node.setAttribute("role", "link");
      node.setAttribute("tabindex", "0");
    }
  }
  if (node.tagName === "INPUT") {
    if (node.getAttribute("type") === "checkbox") node.setAttribute("disabled", "");
    else node.remove();
  }
  const classes = node.getAttribute("class");
  if (classes !== null && !/^(hljs-[\w-]+|language-[\w-]+)( hljs-[\w-]+_?| \w+_)*$/.test(classes)) {
    node.removeAttribute("class");
  }
});

export function sanitize(html: string, guide = false): string {
  isGuide = guide;
  return purify.sanitize(html, {
    ALLOWED_TAGS: KEPT_TAGS,
    ALLOWED_ATTR: KEPT_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
