import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { repositoryRoot } from "../support/repository.js";

/** A function as a profile of V8 names it. */
export interface CallFrame {
  readonly functionName: string;
  /** Empty for what is not written in JavaScript. */
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

/** Where the lines of a module begin in a file of the bundle, from 0. */
interface Region {
  readonly line: number;
  readonly file: string;
}

const words: Readonly<Record<string, string>> = {
  "(garbage collector)": "garbage collection",
  "(program)": "outside of JavaScript: event loop, sockets, V8",
};

/** Says which part of the program a function is of: a folder, a package, a module of Node, or what V8 and Node bring. */
export class PlacesOfCode {
  readonly #regions = new Map<string, readonly Region[]>();

  of({ functionName, url, lineNumber }: CallFrame): string {
    if (functionName.startsWith("RegExp: ")) return "regular expressions";
    if (url === "") return words[functionName] ?? `native ${functionName}`;
    if (!url.startsWith("file:")) return url.replace(/^node:(?:internal\/)?([^/]*).*$/, "node:$1");
    const file = path.relative(repositoryRoot, fileURLToPath(url));
    return placeOf(file.startsWith(BUNDLE) ? this.#moduleAt(file, lineNumber) : file);
  }

  #moduleAt(file: string, line: number): string {
    const known = this.#regions.get(file);
    const regions = known ?? regionsOf(readFileSync(path.join(repositoryRoot, file), "latin1"));
    if (known === undefined) this.#regions.set(file, regions);
    return regions.findLast((region) => region.line <= line)?.file ?? file;
  }
}

const BUNDLE = path.join("dist", "bundle");

/** The bundler writes the name of each module before its text. */
function regionsOf(text: string): readonly Region[] {
  return text.split("\n").flatMap((content, line) => {
    const [, file] = /^\/\/ ((?:dist|node_modules)\/\S+)$/.exec(content) ?? [];
    return file === undefined ? [] : [{ line, file }];
  });
}

/** The folder of a module of ours, or the name of a package. */
function placeOf(file: string): string {
  const [, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  return name ?? path.dirname(file.replace(/^dist\//, ""));
}
