import { chmod, lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { reasonOf } from "../sdk/index.js";

const OF_OTHERS = 0o077;
/** Of folders such as /tmp, shared by all users. */
const STICKY = 0o1000;

/** What other users may still read, and why. */
export interface PermissionFault {
  readonly path: string;
  readonly reason: string;
}

/**
 * Removes the permissions of other users from the files of the agent, and from the folder unless it holds other files:
 * the permissions of a shared folder are left unchanged.
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
  return [...faults, { path: folder, reason: `the folder also holds other files, such as "${foreign}"` }];
}

async function closed(file: string): Promise<readonly PermissionFault[]> {
  try {
    const found = await lstat(file);
    if (found.isSymbolicLink() || (found.mode & OF_OTHERS) === 0) return [];
    if ((found.mode & STICKY) !== 0) return [{ path: file, reason: "the folder is shared by all users" }];
    await chmod(file, found.mode & 0o7777 & ~OF_OTHERS);
    return [];
  } catch (error) {
    // Another process removed it, or another user owns it.
    return [{ path: file, reason: reasonOf(error) }];
  }
}
