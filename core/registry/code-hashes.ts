import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { glob } from "glob";
import { AgentError } from "../sdk/index.js";

/** More code files than this are not compared. */
const MOST_FILES = 2000;

/** The hash of each code file of a folder by its path, those of other packages left out. */
export async function codeHashes(folder: string): Promise<readonly (readonly [file: string, hash: string])[]> {
  const ignore = ["**/node_modules/**", "**/.*/**"];
  const files = await glob("**/*.{js,mjs,cjs,wasm,node}", { cwd: folder, nodir: true, posix: true, ignore });
  if (files.length > MOST_FILES) {
    const reason = `it has ${files.length} code files, and at most ${MOST_FILES} are compared`;
    throw new AgentError("TOO_MANY_FILES", `hashing the files of "${folder}": ${reason}`, { retryable: false });
  }
  return await Promise.all(
    files.toSorted().map(async (file) => {
      const hash = createHash("sha256").update(await readFile(path.join(folder, file)));
      return [file, hash.digest("hex")] as const;
    }),
  );
}
