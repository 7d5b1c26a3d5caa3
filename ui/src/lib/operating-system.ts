// The operating system, as far as shortcuts, menus and names of variables depend on it.

export const isMac = /mac|iphone|ipad/i.test(navigator.platform);

export const isWindows = /^win/i.test(navigator.platform);
