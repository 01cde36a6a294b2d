/**
 * The modules of the program's own plugins that are a part of the bundle, by their path below `dist/plugins`. Compiled, there
 * are none: the build of the bundle (`.ci/write-bundle.mjs`) puts its list in the place of this module.
 */
export const bundledPlugins: Readonly<Record<string, () => Promise<{ readonly default?: unknown }>>> = {};
