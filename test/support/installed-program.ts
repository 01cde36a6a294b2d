import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

// Debian and Homebrew keep servers where only root has its PATH.
const HOMES = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"] as const;

/** Where a program is installed: on PATH, else in the places of Debian and macOS, or in further ones. */
export async function installedProgram(name: string, ...homes: readonly string[]): Promise<string | undefined> {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of [...onPath, ...HOMES, ...homes]) {
    const file = join(folder, name);
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
  }
  return undefined;
}
