import { inspect } from "node:util";
import { refuseNewerFormat } from "../../files/format-version.js";
import { isRecord } from "../../sdk/event.js";
import { type Event, letterHeader } from "../../sdk/index.js";

/**
 * Why an event is not tried any more: the store will never take it, the retries are used up, it ended the
 * process, or the agent stopped before it was stored.
 */
export type DeadLetterReason = (typeof letterReasons)[number];

export const letterReasons = ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"] as const;

/** Where a record stands among those that the agents of a channel share. */
export interface SharedPlace {
  /** Names the log. */
  readonly log: string;
  readonly offset: number;
  /** The run of the agent that wrote it. */
  readonly agent: string;
}

/** One event that a sink could not store. */
export interface DeadLetter {
  /** Stays the same when the event is replayed and fails again. */
  readonly id: string;
  readonly time: string;
  readonly sink: string;
  readonly reason: DeadLetterReason;
  readonly code?: string;
  readonly message: string;
  /** Calls of the sink that included this event. */
  readonly attempts: number;
  /** How often it was replayed and failed again; absent when never. */
  readonly replays?: number;
  /** Absent for a letter that this agent keeps for itself. */
  readonly shared?: SharedPlace;
  /** Of a shared letter that was stored before: where it stood when the event was sent that is stored. Marks before it do not stay in the file. */
  readonly storedFrom?: number | undefined;
  readonly event: Event;
}

/** Where a letter is: it waits for somebody, or it is on its way to its sink again. */
type LetterState = "waiting" | "replaying";

/** A letter that is neither stored nor dropped. */
export interface OpenLetter extends DeadLetter {
  readonly state: LetterState;
}

/** A later remark about a letter of the same file. */
export interface LetterMark {
  readonly id: string;
  readonly mark: LetterState | "stored" | "dropped";
  readonly time: string;
  /** The run of the agent that wrote it: what a dead process was replaying may be replayed again. */
  readonly run: string;
  readonly shared?: SharedPlace;
  /** Of a shared letter that is stored, or was: where it stood when the event was sent that is stored; absent where nobody knows. */
  readonly sentAt?: number | undefined;
}

export type LetterRecord = DeadLetter | LetterMark;

/** One line of a file, its line end included. */
export function lineOf(record: LetterRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Version of a record; those of this version do not name it. */
const VERSION = 1;

/** Undefined for a line that is torn or damaged; throws for one that a later version wrote into the file. */
export function recordOf(line: string, file = ""): LetterRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (isRecord(value)) refuseNewerFormat({ file, found: value["version"], known: VERSION });
  return isMark(value) || isLetter(value) ? value : undefined;
}

const marks: readonly string[] = ["waiting", "replaying", "stored", "dropped"] satisfies readonly LetterMark["mark"][];
const reasons: readonly string[] = letterReasons;

export function isMark(value: unknown): value is LetterMark {
  return hasTexts(value, ["id", "mark", "time", "run"]) && marks.includes(value.mark);
}

export function isLetter(value: unknown): value is DeadLetter {
  if (!hasTexts(value, ["id", "time", "sink", "reason", "message"]) || !reasons.includes(value.reason)) return false;
  return "attempts" in value && typeof value.attempts === "number" && "event" in value && isEvent(value.event);
}

function isEvent(value: unknown): value is Event {
  if (typeof value !== "object" || value === null || !("headers" in value) || !("body" in value)) return false;
  const { headers } = value;
  return (
    typeof headers === "object" && headers !== null && Object.values(headers).every((text) => typeof text === "string")
  );
}

function hasTexts<const K extends string>(value: unknown, names: readonly K[]): value is Readonly<Record<K, string>> {
  return isRecord(value) && names.every((name) => typeof value[name] === "string");
}

/** What is no event as an event that can be kept: its description for people is the body. */
export function describedEvent(value: unknown): Event {
  return { headers: {}, body: inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 10_000 }) };
}

/** The letter as it can be read again; an event that JSON cannot hold is described instead. */
export function readableLetter(letter: DeadLetter): DeadLetter {
  const plain = { ...letter, event: withoutLetter(letter.event) };
  return isReadable(plain) ? plain : { ...letter, event: describedEvent(letter.event) };
}

function isReadable(letter: DeadLetter): boolean {
  try {
    return recordOf(lineOf(letter)) !== undefined;
  } catch {
    return false;
  }
}

/** On the event of a shared letter that is replayed: the offset of the record at which the letter stood when it was sent. */
const sentHeader = "deneb-dead-letter-sent";

/** The event of a letter on its way to its sink again. */
export function replayedEvent({ id, event }: Pick<DeadLetter, "id" | "event">, sentAt?: number): Event {
  const sent = sentAt === undefined ? {} : { [sentHeader]: String(sentAt) };
  return { ...event, headers: { ...event.headers, ...sent, [letterHeader]: id } };
}

/** The letter of a replayed event, and where it stood when the event was sent; undefined for any other event. */
export function sentLetterOf({ headers }: Event): SentLetter | undefined {
  const id = headers[letterHeader];
  const sentAt = headers[sentHeader];
  return id === undefined ? undefined : { id, sentAt: sentAt === undefined ? undefined : Number(sentAt) };
}

/** A letter of which an event was sent. */
export interface SentLetter {
  readonly id: string;
  /** Undefined where its agent alone has the letter, or a version before this one has sent the event. */
  readonly sentAt: number | undefined;
}

/** An event without the headers of its letter. */
function withoutLetter(event: Event): Event {
  if (event.headers[letterHeader] === undefined) return event;
  const { [letterHeader]: _, [sentHeader]: _sent, ...headers } = event.headers;
  return { ...event, headers };
}
