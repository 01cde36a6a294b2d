import { randomInt } from "node:crypto";
import { chmod, lstat, readdir, readFile, readlink, realpath, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FolderClaim } from "../sdk/context.js";
import { AgentError, codeOf, type FolderLock, type Logger, reasonOf } from "../sdk/index.js";
import { type KernelLock, notLockable, tryLock } from "./kernel-lock.js";
import { holderText } from "./lock-note.js";
import { makeFolder } from "./make-folder.js";
import { isFile, refuseNoFile } from "./regular-file.js";

export const LOCK = "deneb.lock";
export const NOTE = "deneb.lock.txt";
const MOST_MILLIS_BETWEEN = 100;
/** Two processes that try at the same instant may both fail; a few tries with random pauses let one succeed. */
const LEAST_TRIES = 5;

interface LockWait {
  /** Seconds to wait for a process that holds the lock. */
  readonly seconds: number;
  readonly log: Pick<Logger, "warn">;
  /** The properties file that this process runs, for the note. */
  readonly runs?: string;
  /** Called when the lock file is found to be removed: another process could lock another one. */
  readonly lost?: (file: string) => void;
  /** Called when it is there again after that, with its folder, and no process has used the folder meanwhile. */
  readonly back?: (file: string) => void;
}

/** Milliseconds between two looks whether a lock file is still there. */
const LOOK_MILLIS = 2000;

/**
 * Folders locked, or about to be, by this process: the operating system distinguishes processes, not their parts. A lock is kept here
 * because garbage collection would end it.
 */
const held = new Map<string, KernelLock | undefined>();

/**
 * Creates the folder when it is missing and locks it for this process. Waits for another process that holds it, and rejects
 * with code `FOLDER_IN_USE` when it does not release the lock, or at once when this process itself holds it.
 */
export async function lockFolder(folder: string, claim: FolderClaim, wait: LockWait): Promise<FolderLock> {
  const { owns, remedy = "give this one a folder of its own" } = claim;
  const real = await existing(folder, remedy);
  if (held.has(real)) throw inUse(folder, `by another part of this process; ${remedy}`);
  held.set(real, undefined);
  try {
    const lock = await waitForLock({ folder, real, remedy, wait, signal: claim.signal });
    held.set(real, lock);
    await writeNote(path.join(real, NOTE), wait.runs);
    if (owns !== undefined) await tighten(real, owns, wait.log);
    const link = wait.lost && (await openLinkOf(path.join(real, LOCK)));
    return new HeldFolder({ real, lock, mark: await markOf(real), link }, wait);
  } catch (error) {
    held.get(real)?.release();
    held.delete(real);
    throw error;
  }
}

/** Whether this process holds the lock of a folder, given by its real path; to try it would end it. */
export function isHeldHere(real: string): boolean {
  return held.has(real);
}

/**
 * Throws code `FOLDER_GONE` where a folder that this process holds is gone, as with its disk, or another one has its place: neither its
 * lock file nor the note beside it is there. What is written there could not be seen when the folder is back.
 */
export async function refuseGone(folder: string): Promise<void> {
  const real = await realpath(folder).catch(() => path.resolve(folder));
  if (!isHeldHere(real) || (await exists(path.join(real, LOCK))) || (await exists(path.join(real, NOTE)))) return;
  const remedy = "mount its disk, or put it back, or start the agent again";
  throw new AgentError("FOLDER_GONE", `the folder "${folder}" is gone; ${remedy}`, { retryable: true });
}

interface Held {
  readonly real: string;
  readonly lock: KernelLock;
  /** What tells the folder from others; undefined when it cannot be told. */
  readonly mark: string | undefined;
  /** Says where the lock file is now, whatever has its place; undefined where the system does not say it. */
  readonly link: string | undefined;
}

class HeldFolder implements FolderLock {
  readonly #held: Held;
  readonly #looking: NodeJS.Timeout | undefined;
  #isLost = false;
  #isReleased = false;
  /** That of a disk which was unmounted and is back says nothing any more. */
  #link: string | undefined;

  constructor(held: Held, { lost, back }: LockWait) {
    this.#held = held;
    this.#link = held.link;
    if (lost !== undefined) this.#looking = setTimeout(() => void this.#look(lost, back), LOOK_MILLIS).unref();
  }

  /** The lock file stays: removing it would let two processes lock two files of one name. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearTimeout(this.#looking);
    const { real, lock } = this.#held;
    await removeNote(path.join(real, NOTE));
    lock.release();
    held.delete(real);
  }

  /** One look at a time: on a disk that hangs each would hold a thread. */
  async #look(lost: (file: string) => void, back: LockWait["back"]): Promise<void> {
    const { real, mark } = this.#held;
    const file = path.join(real, LOCK);
    // The number of the file alone says nothing of a removal: some file systems change the numbers of files.
    const isLost = this.#isLost
      ? mark === undefined || (await markOf(real)) !== mark
      : !(await exists(file)) || (await isMoved(this.#link, file));
    if (this.#isReleased) return;
    if (isLost !== this.#isLost) {
      this.#isLost = isLost;
      if (isLost) lost(file);
      else back?.(file);
      if (!isLost && (await isMoved(this.#link, file))) this.#link = undefined;
    }
    this.#looking?.refresh();
  }
}

/**
 * Changes when another file has the place of the lock file, or another process has held the folder. This process has the file open,
 * so that no other one gets its number.
 */
async function markOf(real: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path.join(real, LOCK), { bigint: true });
    await refuseNoFile(path.join(real, NOTE));
    return `${dev} ${ino} ${await readFile(path.join(real, NOTE), "utf8")}`;
  } catch {
    // Neither can be looked at, or the note could not be written.
    return undefined;
  }
}

/** What the system says of a file that this process has open, by its name when it was opened. */
async function openLinkOf(file: string): Promise<string | undefined> {
  const links = (await readdir(OPEN_FILES).catch(() => [])).map((name) => path.join(OPEN_FILES, name));
  const targets = await Promise.all(links.map((link) => readlink(link).catch(() => undefined)));
  return links[targets.indexOf(file)];
}

const OPEN_FILES = "/proc/self/fd";

/** Whether a file has another name by now, so that another one has its place. A network file system may call one deleted that is there. */
async function isMoved(link: string | undefined, file: string): Promise<boolean> {
  if (link === undefined) return false;
  const now = await readlink(link).catch(() => file);
  return now !== file && now !== `${file} (deleted)`;
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOENT",
  );
}

interface Wanted {
  readonly folder: string;
  readonly real: string;
  readonly remedy: string;
  readonly wait: LockWait;
  readonly signal: AbortSignal | undefined;
}

async function waitForLock({ folder, real, remedy, wait, signal }: Wanted): Promise<KernelLock> {
  const until = performance.now() + wait.seconds * 1000;
  const file = path.join(real, LOCK);
  for (let tries = 1; ; tries += 1) {
    if (signal?.aborted === true)
      throw new AgentError("LOCK_WAIT_ENDED", `waiting for the lock of "${folder}": stopped`, { retryable: false });
    const lock = await tryLock(file);
    if (lock !== undefined) return lock;
    if (tries === LEAST_TRIES) await refuseWithoutLocks(real);
    const holder = (await readNote(path.join(real, NOTE))).slice(0, MOST_IN_A_MESSAGE);
    if (tries >= LEAST_TRIES && performance.now() >= until)
      throw inUse(folder, `by another process (${holder}); stop that one, or ${remedy}`);
    if (tries === LEAST_TRIES)
      wait.log.warn({ folder, holder, seconds: wait.seconds }, "folder is in use by another process; waiting");
    await delay(randomInt(MOST_MILLIS_BETWEEN / 10, MOST_MILLIS_BETWEEN), undefined, { signal }).catch(() => undefined);
  }
}

/** Some file systems report every file as locked; then a file with a random name is locked as well. */
async function refuseWithoutLocks(real: string): Promise<void> {
  const probe = path.join(real, `${LOCK}.probe-${process.pid}-${randomInt(2 ** 40)}`);
  const lock = await tryLock(probe);
  lock?.release();
  await rm(probe, { force: true });
  if (lock === undefined) throw notLockable(path.join(real, LOCK));
}

async function existing(folder: string, remedy: string): Promise<string> {
  try {
    await makeFolder(path.resolve(folder), 0o700);
    return await realpath(folder);
  } catch (cause) {
    const taken = codeOf(cause) === "EEXIST" ? ", where there is a file or a link that leads nowhere" : "";
    throw new AgentError("FOLDER_UNUSABLE", `creating the folder "${folder}"${taken} (${remedy})`, {
      cause,
      retryable: false,
    });
  }
}

async function tighten(folder: string, owns: (name: string) => boolean, log: Pick<Logger, "warn">): Promise<void> {
  // A file system of its own has one.
  const isOurs = (name: string) => name.startsWith(LOCK) || name === "lost+found" || owns(name);
  const faults = await makePrivate(folder, isOurs);
  for (const { path: open, reason } of faults) log.warn({ path: open, reason }, "other users may read it");
}

function inUse(folder: string, by: string): AgentError {
  return new AgentError("FOLDER_IN_USE", `folder "${folder}" is in use ${by}`, { retryable: false });
}

/**
 * Names the holder of a lock for messages: a line of text next to the lock file. Nothing depends on it, so a note that
 * could not be written, or was left behind, has no effect.
 */
async function writeNote(file: string, runs: string | undefined): Promise<void> {
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString(), runs };
  await refuseNoFile(file)
    .then(() => writeFile(file, `${holderText(holder)}\n`, { mode: 0o600 }))
    .catch(() => undefined);
}

async function removeNote(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}

/** A short text without control characters, whatever is in the file. */
export async function readNote(file: string): Promise<string> {
  const text = (await isFile(file)) ? await readFile(file, "utf8").catch(() => "") : "";
  const line = text
    .slice(0, MOST_CHARACTERS)
    .replace(/[^\x20-\x7e]/g, " ")
    .trim();
  return line === "" ? "which left no note" : line;
}

const MOST_CHARACTERS = 2000;
const MOST_IN_A_MESSAGE = 300;

const OF_OTHERS = 0o077;
/** Of folders such as /tmp, shared by all users. */
const STICKY = 0o1000;

/** What other users may still read, and why. */
interface PermissionFault {
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
    // Links lead elsewhere, and a device is of the whole system.
    if (!(found.isFile() || found.isDirectory()) || (found.mode & OF_OTHERS) === 0) return [];
    if ((found.mode & STICKY) !== 0) return [{ path: file, reason: "the folder is shared by all users" }];
    await chmod(file, found.mode & 0o7777 & ~OF_OTHERS);
    return [];
  } catch (error) {
    // Another process removed it, or another user owns it.
    return [{ path: file, reason: reasonOf(error) }];
  }
}
