import { chmod, lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { reasonOf } from "../sdk/index.js";

const OF_OTHERS = 0o077;
/** Of folders as /tmp, which are everybody's. */
const STICKY = 0o1000;

/** What others may still read, and why. */
export interface PermissionFault {
  readonly path: string;
  readonly reason: string;
}

/**
 * Takes the permissions of others from the files that are ours, and from the folder unless it holds something else too:
 * a folder that somebody shares with us is not ours to close.
 */
export async function makePrivate(
  folder: string,
  owns: (name: string) => boolean,
): Promise<readonly PermissionFault[]> {
  const names = await readdir(folder);
  const faults: PermissionFault[] = [];
  for (const name of names.filter(owns)) faults.push(...(await closed(path.join(folder, name))));
  const foreign = names.find((name) => !owns(name));
  if (foreign === undefined) return [...faults, ...(await closed(folder))];
  if (((await lstat(folder)).mode & OF_OTHERS) === 0) return faults;
  return [...faults, { path: folder, reason: `the folder holds other files too, as "${foreign}"` }];
}

async function closed(file: string): Promise<readonly PermissionFault[]> {
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink() || (found.mode & OF_OTHERS) === 0) return [];
    if ((found.mode & STICKY) !== 0) return [{ path: file, reason: "the folder is everybody's" }];
    await chmod(file, found.mode & 0o7777 & ~OF_OTHERS);
    return [];
  } catch (error) {
    // Another process removed it, or it is somebody else's.
    return [{ path: file, reason: reasonOf(error) }];
  }
}
