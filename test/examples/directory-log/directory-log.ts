import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Appended, Bounds, LogFacts, LogPart, LogRecord, PartitionedLog, ReadLimits } from "deneb/log";
import { AgentError, onAbort } from "deneb/sdk";

const DIGITS = 12;
const POLL_MILLIS = 5;
/** What a file of a record begins with, which one of a record that was removed has not. */
const MARK = Buffer.from("\n");
const LARGEST_RECORD = 1_048_576;

export interface DirectoryLogSettings {
  readonly folder: string;
  readonly partitions: number;
}

/**
 * A log in a directory: a folder for each part, a file for each record, its offset as name, empty once it is
 * removed. Several processes may use it.
 */
export class DirectoryLog implements PartitionedLog {
  readonly #settings: DirectoryLogSettings;
  /** By part: no record has a smaller offset than this one and a larger one than those known. */
  readonly #known = new Map<LogPart, number>();
  /** By part: the records before this offset are removed. */
  readonly #first = new Map<LogPart, number>();
  #closing = new AbortController();

  constructor(settings: DirectoryLogSettings) {
    this.#settings = settings;
  }

  async open(): Promise<LogFacts> {
    const { folder, partitions } = this.#settings;
    this.#closing = new AbortController();
    await mkdir(folder, { recursive: true });
    const made = Number(await this.#once("partitions", String(partitions)));
    if (made !== partitions) throw otherPartitions(this.#settings, made);
    const parts: readonly LogPart[] = [...Array.from({ length: partitions }, (_, part) => part), "agents", "letters"];
    for (const part of parts) await mkdir(this.#path(part), { recursive: true });
    return {
      id: await this.#once("id", `directory-${randomUUID()}`),
      partitions,
      largestRecord: LARGEST_RECORD,
      gapless: true,
      warnings: [],
    };
  }

  async append(part: LogPart, value: Uint8Array): Promise<Appended> {
    if (value.byteLength > LARGEST_RECORD) {
      const message = `appending a record of ${value.byteLength} bytes: at most ${LARGEST_RECORD} are allowed`;
      throw new AgentError("RECORD_TOO_LARGE", message, { retryable: false });
    }
    const draft = path.join(this.#settings.folder, `draft-${randomUUID()}`);
    await writeFile(draft, Buffer.concat([MARK, value]));
    try {
      for (let offset = this.#known.get(part) ?? (await this.#bounds(part)).next; ; offset += 1) {
        if (!(await linked(draft, this.#path(part, offset)))) continue;
        this.#known.set(part, offset + 1);
        return { offset, previous: offset - 1 };
      }
    } finally {
      await unlink(draft);
    }
  }

  async read(
    from: ReadonlyMap<LogPart, number>,
    { bytes, waitMillis }: ReadLimits,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<LogPart, readonly LogRecord[]>> {
    const end = performance.now() + waitMillis;
    const ending = AbortSignal.any([signal, this.#closing.signal]);
    for (;;) {
      const found = await this.#now(from, bytes);
      if (found.size > 0 || ending.aborted || performance.now() >= end) return found;
      await pause(POLL_MILLIS, ending);
    }
  }

  async bounds(parts: readonly LogPart[]): Promise<ReadonlyMap<LogPart, Bounds>> {
    return new Map(await Promise.all(parts.map(async (part) => [part, await this.#bounds(part)] as const)));
  }

  /** The name of a record stays, so that no agent that comes late gives it to another one. */
  async trim(before: ReadonlyMap<LogPart, number>): Promise<void> {
    const nothing = path.join(this.#settings.folder, `draft-${randomUUID()}`);
    for (const [part, offset] of before) {
      const { first, next } = await this.#bounds(part);
      for (let old = first; old < Math.min(offset, next); old += 1) {
        await writeFile(nothing, "");
        await rename(nothing, this.#path(part, old));
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#known.clear();
    this.#first.clear();
  }

  /** What the first of all who open the log wrote into a file of this name. */
  async #once(name: string, text: string): Promise<string> {
    const file = path.join(this.#settings.folder, name);
    const draft = `${file}-${randomUUID()}`;
    await writeFile(draft, text);
    await linked(draft, file);
    await unlink(draft);
    return await readFile(file, "utf8");
  }

  async #now(from: ReadonlyMap<LogPart, number>, bytes: number): Promise<Map<LogPart, readonly LogRecord[]>> {
    const found = new Map<LogPart, readonly LogRecord[]>();
    let left = bytes;
    for (const [part, first] of from) {
      const records: LogRecord[] = [];
      for (let offset = first; left > 0; offset += 1) {
        const file = await readIfThere(this.#path(part, offset));
        if (file === undefined) break;
        if (file.byteLength === 0) continue;
        const value = file.subarray(MARK.byteLength);
        if (records.length + found.size > 0 && value.byteLength > left) break;
        left -= value.byteLength;
        records.push({ offset, value });
      }
      if (records.length > 0) found.set(part, records);
    }
    return found;
  }

  async #bounds(part: LogPart): Promise<Bounds> {
    const names = await readdir(this.#path(part));
    const next = names.reduce((most, name) => Math.max(most, Number(name)), -1) + 1;
    let first = this.#first.get(part) ?? 0;
    while (first < next && (await stat(this.#path(part, first))).size === 0) first += 1;
    this.#first.set(part, first);
    return { first, next };
  }

  #path(part: LogPart, offset?: number): string {
    const folder = path.join(this.#settings.folder, `part-${part}`);
    return offset === undefined ? folder : path.join(folder, String(offset).padStart(DIGITS, "0"));
  }
}

/** Agents that count otherwise leave partitions to each other that none of them reads. */
function otherPartitions({ folder, partitions }: DirectoryLogSettings, made: number): AgentError {
  const message = `opening "${folder}": it was made with ${made} partitions, not ${partitions}; set partitions = ${made}`;
  return new AgentError("LOG_SETTINGS", message, { retryable: false });
}

/** False when there is a file of that name. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(), millis);
    const stopListening = onAbort(signal, () => end());
    const end = () => {
      clearTimeout(timer);
      stopListening?.();
      resolve();
    };
  });
}
