import { randomInt } from "node:crypto";
import { mkdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FolderClaim } from "../sdk/context.js";
import { AgentError, type FolderLock, type Logger } from "../sdk/index.js";
import { type KernelLock, notLockable, tryLock } from "./kernel-lock.js";
import { readNote, removeNote, writeNote } from "./lock-note.js";
import { makePrivate } from "./private-folder.js";

const LOCK = "deneb.lock";
const NOTE = "deneb.lock.txt";
const MOST_MILLIS_BETWEEN = 100;
/** Two that try at the same instant may refuse each other; a few tries with pauses of chance let one win. */
const LEAST_TRIES = 5;

export interface LockPatience {
  /** Seconds to wait for a process that holds the lock. */
  readonly seconds: number;
  readonly log: Pick<Logger, "warn">;
}

/**
 * Folders locked, or about to be, by this process: the kernel tells processes apart, not their parts. A lock is kept here
 * because garbage collection would end it.
 */
const held = new Map<string, KernelLock | undefined>();

/**
 * Makes the folder when it is missing and locks it for this process. Waits for another process that holds it, and rejects
 * with code `FOLDER_IN_USE` when it does not let go, or at once when this process itself holds it.
 */
export async function lockFolder(folder: string, claim: FolderClaim, patience: LockPatience): Promise<FolderLock> {
  const { owns, remedy = "give this one a folder of its own" } = claim;
  const real = await existing(folder, remedy);
  if (held.has(real)) throw inUse(folder, `by another part of this process; ${remedy}`);
  held.set(real, undefined);
  try {
    const lock = await patientLock({ folder, real, remedy, patience, signal: claim.signal });
    held.set(real, lock);
    const note = path.join(real, NOTE);
    await writeNote(note);
    if (owns !== undefined) await tighten(real, owns, patience.log);
    return new HeldFolder(real, note, lock);
  } catch (error) {
    held.delete(real);
    throw error;
  }
}

class HeldFolder implements FolderLock {
  readonly #real: string;
  readonly #note: string;
  #lock: KernelLock | undefined;

  constructor(real: string, note: string, lock: KernelLock) {
    this.#real = real;
    this.#note = note;
    this.#lock = lock;
  }

  /** The lock file stays: removing it would let two processes lock two files of one name. */
  async release(): Promise<void> {
    const lock = this.#lock;
    if (lock === undefined) return;
    this.#lock = undefined;
    await removeNote(this.#note);
    lock.release();
    held.delete(this.#real);
  }
}

interface Wanted {
  readonly folder: string;
  readonly real: string;
  readonly remedy: string;
  readonly patience: LockPatience;
  readonly signal: AbortSignal | undefined;
}

async function patientLock({ folder, real, remedy, patience, signal }: Wanted): Promise<KernelLock> {
  const until = performance.now() + patience.seconds * 1000;
  const file = path.join(real, LOCK);
  for (let tries = 1; ; tries += 1) {
    if (signal?.aborted === true)
      throw new AgentError("LOCK_WAIT_ENDED", `waiting for the lock of "${folder}": stopped`, { retryable: false });
    const lock = await tryLock(file);
    if (lock !== undefined) return lock;
    if (tries === LEAST_TRIES) await refuseWithoutLocks(real);
    const holder = await readNote(path.join(real, NOTE));
    if (tries >= LEAST_TRIES && performance.now() >= until)
      throw inUse(folder, `by another process (${holder}); stop that one, or ${remedy}`);
    if (tries === LEAST_TRIES)
      patience.log.warn({ folder, holder, seconds: patience.seconds }, "folder is in use by another process; waiting");
    await delay(randomInt(MOST_MILLIS_BETWEEN / 10, MOST_MILLIS_BETWEEN), undefined, { signal }).catch(() => undefined);
  }
}

/** Some file systems answer "locked" to everybody; then a file that nobody else knows is locked, too. */
async function refuseWithoutLocks(real: string): Promise<void> {
  const probe = path.join(real, `${LOCK}.probe-${process.pid}-${randomInt(2 ** 40)}`);
  const lock = await tryLock(probe);
  lock?.release();
  await rm(probe, { force: true });
  if (lock === undefined) throw notLockable(path.join(real, LOCK));
}

async function existing(folder: string, remedy: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await realpath(folder);
  } catch (cause) {
    throw new AgentError("FOLDER_UNUSABLE", `making the folder "${folder}" (${remedy})`, { cause, retryable: false });
  }
}

async function tighten(folder: string, owns: (name: string) => boolean, log: Pick<Logger, "warn">): Promise<void> {
  const faults = await makePrivate(folder, (name) => name.startsWith(LOCK) || owns(name));
  for (const { path: open, reason } of faults) log.warn({ path: open, reason }, "others may read what is kept here");
}

function inUse(folder: string, by: string): AgentError {
  return new AgentError("FOLDER_IN_USE", `folder "${folder}" is in use ${by}`, { retryable: false });
}
