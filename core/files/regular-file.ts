import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { AgentError } from "../sdk/index.js";

/**
 * Throws code `NOT_A_FILE` where something else has the place of a file: to open a pipe may never end, and a device is no disk. Nothing
 * is thrown where there is none, or it cannot be looked at: to open it says why.
 */
export async function refuseNoFile(file: string): Promise<void> {
  refuse(file, await stat(file, bigNumbers).catch(() => undefined));
}

/** The same where nothing can be awaited. */
export function refuseNoFileSync(file: string): void {
  refuse(file, foundSync(file));
}

/** Whether there is a file, and not something else in its place. */
export async function isFile(file: string): Promise<boolean> {
  return (await stat(file, bigNumbers).catch(() => undefined))?.isFile() === true;
}

// As in core/logging/standard-output.ts: it may be a pipe.
const bigNumbers = { bigint: true } as const;

function foundSync(file: string): BigIntStats | undefined {
  try {
    return statSync(file, bigNumbers);
  } catch {
    return undefined;
  }
}

function refuse(file: string, found: BigIntStats | undefined): void {
  if (found === undefined || found.isFile()) return;
  const message = `opening "${file}": ${kindOf(found)} has the place of a file; move it away`;
  throw new AgentError("NOT_A_FILE", message, { retryable: true });
}

function kindOf(found: BigIntStats): string {
  if (found.isDirectory()) return "a folder";
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}
