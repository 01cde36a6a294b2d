import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { settleAttemptTime } from "./attempt-time.js";
import { settleHeap } from "./heap.js";
import { loadBundle } from "./load-bundle.js";
import { shareLookups } from "./shared-lookups.js";

// Loads the program: its bundle, a few large files that start sooner, where that is the same program, else the compiled
// modules (decision 0192). Which copy of the program is loaded is decided here, so this room imports none of it before.

const compiled = fileURLToPath(new URL("../../", import.meta.url));
const words = process.argv.slice(2);
const [command] = words;
const bundled = !loadsPlugins() && isCurrent();
// Kept code of the bundle is that of an agent, and V8 takes it with the flags of an agent alone.
if (command === "run" || bundled) settleHeap();
shareLookups();
settleAttemptTime();
if (bundled) loadBundle(join(compiled, "bundle"));
else await import("../process.js");

/** Plugins of others import `deneb/sdk` from the compiled modules, and one process must not have two copies of it. */
function loadsPlugins(): boolean {
  if (command === "plugin") return true;
  const variables = [process.env["DENEB_PLUGINS"], process.env["DENEB_PLUGIN_PACKAGES"]];
  return words.some((word) => word.startsWith("--plugin")) || variables.some((value) => (value ?? "") !== "");
}

/** What the bundle was made of, as the build writes it. */
interface Origin {
  /** When the compiler last wrote what it compiled, in a checkout. */
  readonly compiledAt?: number;
  /** The packages in the bundle; each by the number of the one in this list that imports it, absent for the program. */
  readonly packages: readonly { readonly name: string; readonly version: string; readonly from?: number }[];
}

/** Whether the bundle holds what is compiled and installed now: neither is older or newer code run than that. */
function isCurrent(): boolean {
  try {
    const { compiledAt, packages }: Origin = JSON.parse(readFileSync(join(compiled, "bundle", "origin.json"), "utf8"));
    const compiler = statSync(join(compiled, "tsconfig.tsbuildinfo"), { throwIfNoEntry: false });
    if (compiler !== undefined && compiler.mtimeMs !== compiledAt) return false;
    const folders: string[] = [];
    for (const { name, version, from } of packages) {
      const folder = installedFolder(name, from === undefined ? compiled : (folders[from] ?? compiled));
      if (folder === undefined || versionIn(folder) !== version) return false;
      folders.push(folder);
    }
    return true;
  } catch {
    // Also where there is no bundle.
    return false;
  }
}

/** The folder that Node takes a package from when a module in a folder imports it. */
function installedFolder(name: string, from: string): string | undefined {
  const folder = join(from, "node_modules", name);
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return realpathSync(folder);
  const above = dirname(from);
  return above === from ? undefined : installedFolder(name, above);
}

function versionIn(folder: string): unknown {
  const manifest: { readonly version?: unknown } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return manifest.version;
}
