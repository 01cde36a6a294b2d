import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The top folder of the repository, seen from the compiled tests in dist/test/support. */
export const repositoryRoot = fileURLToPath(new URL("../../../", import.meta.url));

const GENERATED = new Set(["node_modules", "dist", "coverage", "data"]);

/**
 * Paths of the files that people wrote, from the top folder, with forward slashes, sorted. Generated folders and
 * hidden ones other than .ci are left out.
 */
export async function repositoryFiles(folder = ""): Promise<readonly string[]> {
  const entries = await readdir(join(repositoryRoot, folder), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = relative(repositoryRoot, join(repositoryRoot, folder, entry.name))
        .split(sep)
        .join("/");
      if (!entry.isDirectory()) return [path];
      return isOurs(path) ? await repositoryFiles(path) : [];
    }),
  );
  return found.flat().sort();
}

function isOurs(path: string): boolean {
  return path === ".ci" || !(path.startsWith(".") || GENERATED.has(path));
}
