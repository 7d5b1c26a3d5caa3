// HTML that may be shown: only what formats text. Pictures only as data, links only with what the user will see first.
import DOMPurify from "dompurify";

const TAGS = [
  ..."a b blockquote br code del dd dl dt em h1 h2 h3 h4 h5 h6 hr i img input kbd li ol p pre s".split(
    " ",
  ),
  ..."samp span strong sub sup table tbody td tfoot th thead tr ul var".split(" "),
];
const ATTRIBUTES = [
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

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "IMG" && !/^data:image\//i.test(node.getAttribute("src") ?? "")) {
    // A picture from elsewhere would tell that place that it was looked at.
    const words = node.getAttribute("alt") || node.getAttribute("src") || "";
    node.replaceWith(node.ownerDocument.createTextNode(words));
  }
  if (node.tagName === "A") {
    const href = node.getAttribute("href") ?? "";
    if (/^(https?:|mailto:)/i.test(href)) node.setAttribute("rel", "noreferrer");
    else node.removeAttribute("href");
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

export function sanitize(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
