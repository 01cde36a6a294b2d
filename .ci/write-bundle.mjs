// Writes dist/bundle: what agents and other commands load, in a few files instead of several hundred modules and packages, which
// the loader of Node takes longer to find and open than to run. dist/core/entry says
// when it is taken, and loads it (decision 0192).
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { licenseText } from "./license-text.mjs";

const root = realpathSync(fileURLToPath(new URL("../", import.meta.url)));
const dist = path.join(root, "dist");
const folder = path.join(dist, "bundle");

/** Packages that agents load at their start. These and what they import are in the bundle, no others. */
const inside = [
  "commander",
  "convict",
  "fastest-levenshtein",
  "pg",
  "pino",
  "prom-client",
  "properties-file",
  "re2js",
  "reflect-metadata",
  "tsyringe",
];
/** Optional parts of these packages, which the program does not use. */
const unused = ["pg-native", "pg-cloudflare"];
/** Plugins that an agent loads in any case, or nearly any: they are in the file of `run`. */
const usual = ["channel-selectors", "sink-processors", "http-source", "ngsi-rest-handler", "timestamp-interceptor"];

const main = path.join(dist, "core", "process.js");
const run = path.join(dist, "core", "cli", "run.js");
const program = path.join(dist, "core", "cli", "program.js");
const ownPlugins = path.join(dist, "core", "registry", "bundled-plugins.js");
const indexOf = (plugin) => path.join(dist, "plugins", plugin, "index.js");
const plugins = readdirSync(path.join(dist, "plugins")).filter((name) => existsSync(indexOf(name)));

/** What each module imports, and what it loads later, by `import()`. */
const imports = new Map();
const laterImports = new Map();
const place = {
  name: "place",
  // `deneb plugin` loads plugins of others, which import the compiled modules: it is one of these itself.
  resolveId(id, importer, { kind }) {
    if (importer !== program || kind !== "dynamic-import" || id !== "./plugin.js") return null;
    return { id: path.relative(folder, path.resolve(path.dirname(importer), id)), external: true };
  },
  load(id) {
    return id === ownPlugins ? `export const bundledPlugins = {\n${plugins.map(listed).join("")}};\n` : null;
  },
  // A module finds its worker, its pages, its package.json where it was compiled, also when it stands in a bundle.
  transform(code, id) {
    // pg asks whether it runs in Node, which on Node 20 loads the HTTP client behind `fetch` at each start.
    if (/[\\/]pg[\\/]lib[\\/]stream\.js$/.test(id)) return code.replace("typeof Response === 'function'", "false");
    if (!id.startsWith(dist)) return null;
    const from = path.relative(folder, id).split(path.sep).map(encodeURIComponent).join("/");
    return code
      .replaceAll("import.meta.url", `new URL("${from}", __bundle.url).href`)
      .replaceAll("import.meta.resolve", "__bundle.resolve");
  },
  // A file with one character beyond ASCII is held with two bytes for each, and takes longer to read.
  renderChunk(code, { fileName }) {
    // Where a backslash is before it, or stands for itself, the escape would be another text.
    if (/\\[\u0080-\uffff]|String\.raw`[^`]*[\u0080-\uffff]/.test(code))
      throw new Error(`${fileName}: a character beyond ASCII behind a backslash or in String.raw cannot be escaped`);
    // The files are scripts, functions whose parameters are what a module has: core/entry/load-bundle.ts calls them.
    const script = code
      .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .replace(/\bimport\(/g, "__bundle.import(");
    return `(function (exports, require, module, __bundle) {"use strict";${script}\n})`;
  },
  buildEnd() {
    for (const id of this.getModuleIds()) {
      const { importedIds, dynamicallyImportedIds } = this.getModuleInfo(id);
      imports.set(id, importedIds);
      laterImports.set(id, dynamicallyImportedIds);
    }
  },
};

rmSync(folder, { recursive: true, force: true });
const { exports: parts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const bundle = await rolldown({
  input: { process: main },
  platform: "node",
  external: isOutside,
  resolve: { alias: Object.fromEntries(Object.entries(parts).map(aliasOf)) },
  onLog(level, log, handler) {
    if (log.code === "EMPTY_IMPORT_META") throw new Error(`a script has no import.meta: ${log.message}`);
    handler(level, log);
  },
  plugins: [place],
});
const { output } = await bundle.write({
  dir: folder,
  format: "cjs",
  minify: false,
  // The same names in each build: an agent that runs while its files are replaced finds what it loads later.
  entryFileNames: "[name].js",
  chunkFileNames: "[name].js",
  minifyInternalExports: false,
  codeSplitting: { groups: [holding("program", 2, [main]), holding("agent", 1, [run, ...usual.map(indexOf)])] },
});
await bundle.close();
const packages = packagesIn(output.flatMap(({ moduleIds = [] }) => moduleIds));
const licenses = [...packages.keys()].sort().map(licenseText);
writeFileSync(path.join(folder, "LICENSES.txt"), `${licenses.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
const { mtimeMs: compiledAt } = statSync(path.join(dist, "tsconfig.tsbuildinfo"));
// The last file: without it the bundle is not used.
writeFileSync(path.join(folder, "origin.json"), `${JSON.stringify({ compiledAt, packages: inOrder(packages) })}\n`);

function listed(plugin) {
  return `  ${JSON.stringify(`${plugin}/index.js`)}: () => import(${JSON.stringify(indexOf(plugin))}),\n`;
}

/** `deneb/sdk` of a plugin is the compiled module that the package exports as this. */
function aliasOf([part, target]) {
  return [part.replace(/^\./, "deneb"), path.join(root, target.default ?? target)];
}

function isOutside(id, importer) {
  if (/^[./\0]|^deneb\//.test(id) || path.isAbsolute(id)) return false;
  if (!importer?.startsWith(dist)) return unused.includes(id) || undefined;
  return !inside.some((name) => id === name || id.startsWith(`${name}/`));
}

/**
 * A file that holds the modules, and what they import that no file before it holds. process.js itself stands alone, because it
 * waits for the others. Modules of no such file are in files of the plugins and commands that use them.
 */
function holding(name, priority, ids) {
  let reached;
  const test = (id) => {
    reached ??= reachedFrom(ids);
    return id !== main && reached.has(id);
  };
  return { name, priority, test };
}

function reachedFrom(ids) {
  const reached = new Set(ids);
  // A set that grows while it is gone through is gone through to its new end.
  for (const id of reached) for (const imported of imports.get(id) ?? []) reached.add(imported);
  return reached;
}

/** The packages that the modules are of, by their folders, each with the folders of what imports it. */
function packagesIn(ids) {
  const found = new Map();
  for (const id of ids)
    for (const imported of [...(imports.get(id) ?? []), ...(laterImports.get(id) ?? [])]) {
      const [from, to] = [packageFolder(id), packageFolder(imported)];
      if (to !== undefined && to !== from) found.set(to, (found.get(to) ?? new Set()).add(from));
    }
  return found;
}

/** For entry.js: each package that something imports, behind that; `from` is the number of the importing package. */
function inOrder(found) {
  const order = [];
  const numbers = new Map([[undefined, undefined]]);
  // A map that grows while it is gone through is gone through to its new end.
  for (const [importer, from] of numbers)
    for (const [imported, importers] of found) {
      if (!importers.has(importer)) continue;
      const { name, version } = JSON.parse(readFileSync(path.join(imported, "package.json"), "utf8"));
      if (!numbers.has(imported)) numbers.set(imported, order.length);
      order.push({ name, version, from });
    }
  return order;
}

/** Undefined for a module of the program, and for what comes with Node or is no file. */
function packageFolder(id) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0];
}
