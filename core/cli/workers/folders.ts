import { lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../../files/make-folder.js";
import { codeOf, reasonOf } from "../../sdk/index.js";

/** The folder, in a data directory, of the workers from the second on. */
export const WORKERS = "workers";
/** In the folder of a worker that has nothing left to store. */
const EMPTIED = "emptied";
/** Bytes of the path of a socket that every system takes: a longer one is cut off without an error, and then two are the same. */
const LONGEST_SOCKET = 103;

/** The data directory of a worker: the first one has that of the agent, so that an agent may get workers, and lose them. */
export function folderOf(dataDir: string, number: number): string {
  return number === 1 ? dataDir : path.join(dataDir, WORKERS, String(number));
}

/** Numbers of the workers beyond this one that may have left something, in order. */
export async function leftBeyond(dataDir: string, workers: number): Promise<readonly number[]> {
  const numbers = (await numbersIn(dataDir)).filter((number) => number > workers);
  const left = await Promise.all(numbers.map(async (number) => !(await isEmptied(folderOf(dataDir, number)))));
  return numbers.filter((_, at) => left[at] === true);
}

/** What a worker keeps on disk, and where. */
export interface WorkerFolder {
  readonly number: number;
  readonly folder: string;
}

/** The data directories of all workers that an agent has or had, that of the agent first. */
export async function workersIn(dataDir: string): Promise<readonly WorkerFolder[]> {
  return [1, ...(await numbersIn(dataDir))].map((number) => ({ number, folder: folderOf(dataDir, number) }));
}

/**
 * Notes that nothing is left in the folder of a worker. Returns the channels in it that the configuration does not have: what
 * they hold nobody has looked at, and then nothing is noted.
 */
export async function noteEmptied(folder: string, channels: readonly string[]): Promise<readonly string[]> {
  const unknown = (await namesIn(path.join(folder, "channels"))).filter((name) => !channels.includes(name));
  if (unknown.length === 0) await writeFile(path.join(folder, EMPTIED), "", { mode: 0o600 });
  return unknown;
}

/** Makes the folder of a worker that is about to receive. */
export async function prepareFolder(folder: string): Promise<void> {
  await makeFolder(folder, 0o700);
  await rm(path.join(folder, EMPTIED), { force: true });
}

/** Makes the folder of the sockets of the workers in the temporary directory, or says why that cannot be and what to do. */
export async function socketFolder(
  temporary: string,
): Promise<{ readonly folder: string } | { readonly reason: string }> {
  const remedy = "name another temporary directory in the variable TMPDIR";
  const bytes = Buffer.byteLength(path.join(temporary, "deneb-123456", "64"));
  if (bytes > LONGEST_SOCKET) {
    const excess = `"${temporary}" is too long by ${bytes - LONGEST_SOCKET} bytes for the sockets of the workers`;
    return { reason: `${excess}; ${remedy}` };
  }
  try {
    return { folder: await mkdtemp(path.join(temporary, "deneb-")) };
  } catch (error) {
    return { reason: `cannot make a folder for the sockets of the workers: ${reasonOf(error)}; ${remedy}` };
  }
}

/** Makes the folder of the sockets again where something cleans up temporary files; throws when another user has made it. */
export async function prepareSockets(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if ((await lstat(folder)).uid !== process.getuid?.()) throw new Error(`"${folder}" is not of this user`);
  }
}

async function numbersIn(dataDir: string): Promise<readonly number[]> {
  const names = await namesIn(path.join(dataDir, WORKERS));
  return names
    .filter((name) => /^[1-9]\d{0,3}$/.test(name))
    .map(Number)
    .filter((number) => number > 1)
    .sort((left, right) => left - right);
}

async function isEmptied(folder: string): Promise<boolean> {
  return (await namesIn(folder)).includes(EMPTIED);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // A start that locks the data directory says what is in its place.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
