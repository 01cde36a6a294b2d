import { type Dirent, existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

/** The source of a plugin that changed last, when that was after its build; undefined where there is none. */
export async function changedAfterBuild(built: string): Promise<string | undefined> {
  const folder = packageOf(built);
  if (folder === undefined) return undefined;
  const source = newest(await filesBelow(folder), /(?<!\.d)\.[mc]?ts$/);
  const output = newest(await filesBelow(built), /\.[mc]?js$/);
  if (source === undefined || output === undefined || source.changed <= output.changed) return undefined;
  return source.name;
}

/** The folder of the nearest package. */
function packageOf(folder: string): string | undefined {
  if (existsSync(path.join(folder, "package.json"))) return folder;
  const above = path.dirname(folder);
  return above === folder ? undefined : packageOf(above);
}

interface KnownFile {
  readonly name: string;
  readonly changed: number;
}

function newest(files: readonly KnownFile[], kind: RegExp): KnownFile | undefined {
  return files.filter(({ name }) => kind.test(name)).toSorted((one, other) => other.changed - one.changed)[0];
}

/** Without what cannot be read or is gone meanwhile: the answer is advice, and no reason to test nothing. */
async function filesBelow(folder: string): Promise<readonly KnownFile[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(() => [])).filter(isOwn);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const name = path.join(folder, entry.name);
      if (entry.isDirectory()) return await filesBelow(name);
      const found = entry.isFile() ? await stat(name).catch(() => undefined) : undefined;
      return found === undefined ? [] : [{ name, changed: found.mtimeMs }];
    }),
  );
  return found.flat();
}

function isOwn({ name }: Dirent): boolean {
  return name !== "node_modules" && !name.startsWith(".");
}
