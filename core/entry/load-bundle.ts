import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";

/** Where the build keeps what V8 compiled of the files of a bundle, below its folder. */
export const COMPILED_FOLDER = "compiled";

const DIGEST = "sha1";
const DIGEST_BYTES = 20;

/** A file of a bundle, and V8's script of it. */
export interface LoadedScript {
  readonly text: Buffer;
  readonly script: Script;
}

type Exports = Record<string, unknown>;
type Run = (exports: Exports, require: (id: string) => unknown, module: { exports: Exports }, bundle: AsModule) => void;

/** What a module has and a script has not. */
interface AsModule {
  /** Of the file. */
  readonly url: string;
  import(specifier: string): Promise<unknown>;
  resolve(specifier: string): string;
}

/**
 * Runs process.js of a bundle. Its files are scripts, each a function that is called with what a module has: of scripts V8
 * takes code that it compiled before, of modules it does not before Node 22 (decision 0192).
 *
 * @param onLoad - is called with each file that the program loads, also later.
 */
export function loadBundle(folder: string, onLoad?: (name: string, loaded: LoadedScript) => void): void {
  const modules = new Map<string, { exports: Exports }>();
  const outside = createRequire(join(folder, "process.js"));
  const load = (name: string): Exports => {
    const loaded = modules.get(name);
    if (loaded !== undefined) return loaded.exports;
    const url = pathToFileURL(join(folder, name)).href;
    const text = readFileSync(join(folder, name));
    const script = compiledScript(folder, name, text, url);
    onLoad?.(name, { text, script });
    const module = { exports: {} };
    modules.set(name, module);
    const run: Run = script.runInThisContext();
    try {
      run(module.exports, require, module, {
        url,
        import: (specifier) => import(urlOf(specifier, url)),
        resolve: (specifier) => import.meta.resolve(urlOf(specifier, url)),
      });
    } catch (error) {
      // Whoever loads it next gets the error again, not a part of it.
      modules.delete(name);
      throw error;
    }
    return module.exports;
  };
  const require = (id: string): unknown => (id.startsWith("./") ? load(id.slice(2)) : outside(id));
  load("process.js");
}

/** What a package is called stays its name. */
function urlOf(specifier: string, from: string): string {
  return specifier.startsWith(".") ? new URL(specifier, from).href : specifier;
}

function compiledScript(folder: string, name: string, text: Buffer, filename: string): Script {
  const cachedData = keptCode(join(folder, COMPILED_FOLDER, name), text);
  // One byte a character: the build escapes all that is not ASCII.
  return new Script(text.toString("latin1"), cachedData === undefined ? { filename } : { filename, cachedData });
}

/** Undefined where there is none that belongs to this text and this Node: then V8 compiles the text. */
function keptCode(file: string, text: Buffer): Buffer | undefined {
  try {
    const kept = readFileSync(file);
    const code = kept.subarray(DIGEST_BYTES);
    return kept.subarray(0, DIGEST_BYTES).equals(digestOf(text, code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** The content of a file that keeps what V8 compiled of a script that has run. */
export function codeToKeep({ text, script }: LoadedScript): Buffer {
  const code = script.createCachedData();
  return Buffer.concat([digestOf(text, code), code]);
}

/** V8 would take code of another text of the same length, of another Node with the same V8, and code with a wrong bit. */
function digestOf(text: Buffer, code: Buffer): Buffer {
  const { execPath, versions, arch, platform } = process;
  const node = JSON.stringify([versions, arch, platform, statSync(execPath).size]);
  return createHash(DIGEST).update(node).update("\0").update(text).update("\0").update(code).digest();
}
