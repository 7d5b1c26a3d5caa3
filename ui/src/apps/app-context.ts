// Appearance and place of a shown app, as reported to the host.
import { MediaQuery } from "svelte/reactivity";

import type { AppContext, AppDisplayMode, AppTheme } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { languageTag } from "$lib/state/locale.svelte";

import { styleVariables } from "./style-variables";

/** Minimum height of an inline frame in CSS pixels. */
const MIN_HEIGHT = 40;
/** Maximum height of an inline frame in relation to the height of the window. */
const MAX_PART_OF_WINDOW = 0.8;

const prefersDark = new MediaQuery("prefers-color-scheme: dark");
const prefersContrast = new MediaQuery("prefers-contrast: more");

/** Place of a frame. Sizes are in CSS pixels, without borders. */
export interface FramePlace {
  mode: AppDisplayMode;
  width: number;
  /** Maximum height if the app is inline, or else the height. */
  height: number;
}

/** Returns the theme in which the page is displayed. */
export function effectiveTheme(): AppTheme {
  const { theme } = app.settings;
  if (theme !== "system") return theme;
  return prefersDark.current ? "dark" : "light";
}

export function maxInlineHeight(windowHeight: number): number {
  return Math.max(MIN_HEIGHT, Math.floor(windowHeight * MAX_PART_OF_WINDOW));
}

/** Returns the height of an inline frame whose app requests `height`. */
export function clampHeight(height: number, windowHeight: number): number {
  return Math.min(Math.max(Math.round(height), MIN_HEIGHT), maxInlineHeight(windowHeight));
}

/** The part of a context that does not depend on the place of the frame. */
export type Appearance = Omit<AppContext, "displayMode" | "width" | "height">;

/** Returns the appearance of the page. Depends on the settings, so that an effect repeats after their changes. */
export function readAppearance(): Appearance {
  const theme = effectiveTheme();
  // The tokens depend on the contrast, too.
  void prefersContrast.current;
  return {
    theme,
    styles: styleVariables(theme),
    locale: languageTag(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    touch: matchMedia("(any-pointer: coarse)").matches,
    hover: matchMedia("(any-hover: hover)").matches,
  };
}

/** Returns the context of an app at a place. */
export function appContext(
  appearance: Appearance,
  { mode, width, height }: FramePlace,
): AppContext {
  return {
    ...appearance,
    displayMode: mode,
    width: Math.max(0, Math.round(width)),
    height: Math.max(0, Math.round(height)),
  };
}
