import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Writes texts by their path below a folder, which is made where it is missing. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
