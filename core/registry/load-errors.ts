import { execFile } from "node:child_process";
import { dirname, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { glob } from "glob";
import { messageOf } from "../sdk/causes.js";

/** The reason why a module could not be imported, with file and line where these can be found. */
export async function reasonNotLoaded(error: unknown, specifier: string): Promise<string> {
  const reason = messageOf(error).split("\n", 1).join();
  const place = placeIn(error) ?? (error instanceof SyntaxError ? await syntaxErrorPlace(specifier) : undefined);
  return place === undefined ? reason : `${place}: ${reason}`;
}

const PLACE = /(file:\/\/[^\s()]+?):(\d+)/;
const OWN = new URL("../", import.meta.url).href;

/** The first place of its stack that is not in the agent itself. */
function placeIn(error: unknown): string | undefined {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  const lines = typeof stack === "string" ? stack.split("\n") : [];
  for (const line of lines) {
    const [, url, number] = PLACE.exec(line) ?? [];
    if (url !== undefined && number !== undefined && !url.startsWith(OWN)) return `${fileURLToPath(url)}:${number}`;
  }
  return undefined;
}

/** Files that are looked through for a syntax error, and milliseconds after which no further one is. */
const MOST_FILES = 100;
const LONGEST = 5000;

/**
 * Node keeps the place of a syntax error to itself unless the error ends a process: so the module, then the other files
 * beside it, are checked by processes that run nothing of them.
 */
async function syntaxErrorPlace(specifier: string): Promise<string | undefined> {
  if (!specifier.startsWith("file:")) return undefined;
  const main = fileURLToPath(specifier);
  const options = { cwd: dirname(main), absolute: true, nodir: true, ignore: "**/node_modules/**" };
  const beside = (await glob("**/*.{js,mjs}", options)).toSorted().filter((file) => file !== main);
  const began = performance.now();
  for (const file of [main, ...beside].slice(0, MOST_FILES)) {
    if (performance.now() - began > LONGEST) return undefined;
    const line = [".js", ".mjs"].includes(extname(file)) ? await lineOfSyntaxError(file) : undefined;
    if (line !== undefined) return `${file}:${line}`;
  }
  return undefined;
}

function lineOfSyntaxError(file: string): Promise<number | undefined> {
  const limits = { timeout: 5000, maxBuffer: 1_000_000, env: { ...process.env, NODE_OPTIONS: "" } };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--check", file], limits, (error, _output, problems) => {
      const [, line] = error === null ? [] : (/^\S.*:(\d+)$/m.exec(problems) ?? []);
      resolve(line === undefined ? undefined : Number(line));
    });
  });
}
