import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { refuseNewerFormat } from "../files/format-version.js";
import { refuseNoFile } from "../files/regular-file.js";
import { SerialQueue } from "../files/serial-queue.js";
import { syncFolder, writeWhole } from "../files/whole-file.js";
import { eventHeaders } from "../ngsi/index.js";
import { isRecord } from "../sdk/event.js";
import { AgentError, codeOf, type Event } from "../sdk/index.js";

/** Which events an erasure means: those of an entity, of a service, or of both together. */
export interface ErasureOf {
  readonly entity?: string;
  readonly service?: string;
}

/** An erasure as it is kept: hashes, so that the file does not hold what was erased. */
export interface KeptErasure {
  readonly entity?: string;
  readonly service?: string;
  /** Milliseconds since 1970; events that were received later stay. */
  readonly time: number;
}

/**
 * The erasures whose events may still wait in a channel. A feed leaves such events out; the file makes a later process do
 * the same with what its channels kept.
 */
export class Erasures {
  readonly #file: string;
  #kept: readonly KeptErasure[] = [];
  readonly #changes = new SerialQueue();

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads what the processes before have kept. */
  async start(): Promise<void> {
    this.#kept = await readErasures(this.#file);
  }

  /** Those whose events may still wait. */
  get all(): readonly KeptErasure[] {
    return this.#kept;
  }

  /** On disk when it resolves. */
  async add({ entity, service }: ErasureOf, time: number): Promise<void> {
    const added = {
      ...(entity === undefined ? {} : { entity: hashOf(entity) }),
      ...(service === undefined ? {} : { service: hashOf(service) }),
      time,
    };
    await this.#keep((kept) => [...kept, added]);
  }

  /** Keeps one that another agent was told; on disk when it resolves. */
  async take({ entity, service, time }: KeptErasure): Promise<void> {
    const isSame = (one: KeptErasure) => one.entity === entity && one.service === service && one.time === time;
    if (this.#kept.some(isSame)) return;
    const taken = { ...(entity === undefined ? {} : { entity }), ...(service === undefined ? {} : { service }), time };
    await this.#keep((kept) => [...kept, taken]);
  }

  /** Forgets erasures when every event that was received before this time has left the channels. */
  async forget(before: number): Promise<void> {
    if (this.#kept.some(({ time }) => time < before)) {
      await this.#keep((kept) => kept.filter(({ time }) => time >= before));
    }
  }

  /** Those of the events that an erasure is about. Without erasures none is looked at. */
  erasedAmong(events: readonly Event[]): readonly Event[] {
    if (this.#kept.length === 0) return none;
    return events.filter((event) => this.#isErased(event));
  }

  #isErased(event: Event): boolean {
    const received = Number(event.headers[eventHeaders.timestamp] ?? Number.NaN);
    let id: string | undefined;
    return this.#kept.some(({ entity, service, time }) => {
      if (!(received <= time)) return false;
      if (service !== undefined && !servicesOf(event).some((name) => hashOf(name) === service)) return false;
      if (entity === undefined) return true;
      id ??= hashOf(entityIdOf(event) ?? "");
      return id === entity;
    });
  }

  async #keep(change: (kept: readonly KeptErasure[]) => readonly KeptErasure[]): Promise<void> {
    await this.#changes.run(async () => {
      const next = change(this.#kept);
      try {
        await writeErasures(this.#file, next);
      } catch (cause) {
        const message = `writing the list of erasures to "${this.#file}"; repeat it when the disk takes it`;
        throw new AgentError("ERASURES_UNWRITABLE", message, { cause, retryable: true });
      }
      this.#kept = next;
    });
  }
}

const none: readonly Event[] = [];

/** Whether an event is of an entity and service, whenever it was received. */
export function isOf({ entity, service }: ErasureOf, event: Event): boolean {
  if (service !== undefined && !servicesOf(event).includes(service)) return false;
  return entity === undefined || entityIdOf(event) === entity;
}

/** As in the notification, and after name mappings. */
function servicesOf({ headers }: Event): readonly string[] {
  return [headers[eventHeaders.service], headers[eventHeaders.mappedService]].filter((name) => name !== undefined);
}

function entityIdOf({ body }: Event): string | undefined {
  const id = isRecord(body) ? body["id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function readErasures(file: string): Promise<readonly KeptErasure[]> {
  await refuseNoFile(file);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return [];
    const message = `reading "${file}" (move it away and erase again)`;
    throw new AgentError("FILE_NOT_READ", message, { cause, retryable: false });
  }
  const kept = erasuresIn(text, file);
  if (kept !== undefined) return kept;
  throw new AgentError(
    "ERASURES_DAMAGED",
    `reading "${file}": it is not a list of erasures; move it away and erase again`,
    {
      retryable: false,
    },
  );
}

/** Version of the file: the first one is a list, and an object names its version. */
const VERSION = 1;

function erasuresIn(text: string, file: string): readonly KeptErasure[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isRecord(value)) refuseNewerFormat({ file, found: value["version"], known: VERSION });
  return Array.isArray(value) && value.every(isKeptErasure) ? value : undefined;
}

export function isKeptErasure(value: unknown): value is KeptErasure {
  if (!isRecord(value) || typeof value["time"] !== "number") return false;
  const hashes = [value["entity"], value["service"]].filter((hash) => hash !== undefined);
  return hashes.length > 0 && hashes.every((hash) => typeof hash === "string");
}

/** The old or the new list, whatever happens in between; no file for none. */
async function writeErasures(file: string, kept: readonly KeptErasure[]): Promise<void> {
  if (kept.length === 0) return await rm(file, { force: true });
  await writeWhole(file, JSON.stringify(kept));
  await syncFolder(path.dirname(file));
}
