import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.js";

const VARIABLE = "DENEB_TEST_RUN_FOLDER";
const LONGEST_MILLIS = 9 * 60_000;

/** A folder for what the test processes of one run share; they find it by a variable. */
export async function provideRunFolder(): Promise<{ remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "deneb-run-"));
  process.env[VARIABLE] = folder;
  return { remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface MadeInRun {
  readonly file: string;
  /** Whether this call made it; false when it found what another one had made. */
  readonly ours: boolean;
}

/**
 * Has a file made by the first of the processes of a run that asks for it; the others wait for it, and fail as it did.
 * Undefined for a process that belongs to no run: nothing is made.
 */
export async function madeOnceInRun(
  name: string,
  make: (file: string) => Promise<void>,
  folder = process.env[VARIABLE],
): Promise<MadeInRun | undefined> {
  if (folder === undefined) return undefined;
  const file = join(folder, name);
  const failed = `${file}.failed`;
  if (!(await isFirst(`${file}.making`))) {
    await until(async () => (await exists(file)) || (await exists(failed)), Boolean, LONGEST_MILLIS);
    if (await exists(failed)) throw new Error(`another process of this run could not make ${name}`);
    return { file, ours: false };
  }
  try {
    await make(`${file}.part`);
    await rename(`${file}.part`, file);
    return { file, ours: true };
  } catch (error) {
    await writeFile(failed, "");
    throw error;
  }
}

async function isFirst(folder: string): Promise<boolean> {
  return await mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
