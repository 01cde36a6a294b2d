import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { kernelFiles } from "../agent/kernel-files.js";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import { lockFolder, makePrivate } from "../files/folder-lock.js";
import { unreadableLedger } from "../pipeline/ledger-file.js";
import { codeOf, type FolderLock, reasonOf } from "../sdk/index.js";
import { exitCodes, type Terminal } from "./command.js";
import type { StartFindings } from "./start-findings.js";
import { WORKERS, type WorkerFolder, workersIn } from "./workers/folders.js";

const { deadLetters, ledger, inHand, erasures } = kernelFiles;
const ours: ReadonlySet<string> = new Set([
  deadLetters,
  ledger,
  `${ledger}.new`,
  unreadableLedger(ledger),
  inHand,
  erasures,
  `${erasures}.new`,
  "channels",
  "logs",
  WORKERS,
]);

interface LockedBy extends Pick<KernelSettings, "dataDir" | "lockWaitSeconds"> {
  /** The properties file of an agent that runs, for others that look who holds the directory. */
  readonly runs?: string;
  /** What to do when another process holds the directory, besides stopping that one. */
  readonly remedy?: string;
}

/** Runs the work while the data directory is locked for this process. */
export async function withDataDir(
  {
    dataDir,
    lockWaitSeconds,
    runs,
    remedy = "give another data directory with --data-dir or DENEB_DATA_DIR",
  }: LockedBy,
  terminal: Terminal,
  work: () => Promise<number>,
): Promise<number> {
  const warn = (fields: object, message: string) => terminal.err(`warning: ${message} ${JSON.stringify(fields)}`);
  let lock: FolderLock;
  try {
    const claim = { owns: isOurs, remedy, signal: terminal.stopRequested };
    lock = await lockFolder(dataDir, claim, {
      seconds: lockWaitSeconds,
      log: { warn },
      lost: (file) => {
        const what = `"${file}" was removed or moved while the data directory is in use: another agent could use it, too`;
        terminal.err(`error: ${what}; put the folder back, or start the agent again`);
      },
      back: (file) => terminal.err(`"${file}" is back, and no other agent used it meanwhile`),
      ...(runs === undefined ? {} : { runs }),
    });
  } catch (error) {
    if (terminal.stopRequested.aborted) return exitCodes.success;
    terminal.err(`error: ${reasonOf(error)}`);
    return codeOf(error) === "FOLDER_IN_USE" ? exitCodes.folderInUse : exitCodes.failure;
  }
  try {
    await closeDeadLetters(path.join(dataDir, deadLetters), warn);
    return await work();
  } finally {
    await lock.release();
  }
}

/**
 * Runs the work of a command on a stopped agent while the data directories of all its workers are locked, that of the agent
 * first. An agent without workers has one.
 */
export async function withAllDataDirs(
  settings: LockedBy,
  terminal: Terminal,
  work: (workers: readonly WorkerFolder[]) => Promise<number>,
): Promise<number> {
  const fault = ownerFault(settings.dataDir);
  if (fault !== undefined) {
    terminal.err(`error: ${fault}`);
    return exitCodes.failure;
  }
  const workers = await workersIn(settings.dataDir);
  const locked = async (at: number): Promise<number> => {
    const dataDir = workers[at]?.folder;
    if (dataDir === undefined) return await work(workers);
    return await withDataDir({ ...settings, dataDir }, terminal, () => locked(at + 1));
  };
  return await locked(0);
}

/** Root may write everywhere; what it writes has mode 0600 and is its own. */
function ownerFault(dataDir: string): string | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const { uid } = statSync(dataDir);
  if (uid === 0) return undefined;
  const remedy = "run the command as that user, for example by runuser";
  return `data directory "${dataDir}" belongs to user ${uid}, whose agent could not read what root writes there; ${remedy}`;
}

/** What is wrong with a data directory that a command only reads; undefined where it is one. */
export function dataDirFault(dataDir: string): string | undefined {
  const remedy = "give that of the agent with --data-dir or DENEB_DATA_DIR";
  try {
    return statSync(dataDir).isDirectory() ? undefined : `"${dataDir}" is no directory; ${remedy}`;
  } catch (error) {
    const what = `there is no data directory "${dataDir}"`;
    return `${codeOf(error) === "ENOENT" ? what : `${what} that can be read (${reasonOf(error)})`}; ${remedy}`;
  }
}

/** Warns root in a data directory of another user, whose agent cannot read later what root writes there. */
export function warnOfOwner(dataDir: string, findings: StartFindings): void {
  const fault = existsSync(dataDir) ? ownerFault(dataDir) : undefined;
  if (fault !== undefined) findings.warn(fault, "the data directory belongs to another user");
}

/**
 * Whether a command without a properties file has an embedded database to work on; else says what is wrong. A forgotten
 * file would be a command that succeeds on nothing.
 */
export async function hasStore(config: string | undefined, dataDir: string, terminal: Terminal): Promise<boolean> {
  if (config !== undefined) return true;
  const fault = dataDirFault(dataDir);
  if (fault !== undefined) {
    const done = "without --config this is done in the embedded database, in a data directory";
    terminal.err(`error: ${done}: ${fault}, or the properties file with --config`);
    return false;
  }
  const names = await readdir(dataDir).catch((): readonly string[] => []);
  if (names.some((name) => name.endsWith(".db"))) return true;
  const missing = `without --config this is done in the embedded database, and data directory "${dataDir}" has none`;
  terminal.err(`error: ${missing}; give the properties file with --config, or the directory with --data-dir`);
  return false;
}

/** Earlier versions created files that other users could read. */
async function closeDeadLetters(folder: string, warn: (fields: object, message: string) => void): Promise<void> {
  const faults = await makePrivate(folder, (name) => /\.ndjson(\.new)?$/.test(name)).catch(() => []);
  for (const fault of faults) warn(fault, "other users may read it");
}

function isOurs(name: string): boolean {
  return ours.has(name) || /\.db(-wal|-shm|-journal)?$/.test(name);
}
