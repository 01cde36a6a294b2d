import { randomBytes } from "node:crypto";
import type { LogFacts } from "deneb/log";
import type { JetStreamConfig } from "../config.js";
import { apiCodes, isAnswer, logSettings } from "./errors.js";
import type { Link } from "./link.js";
import type { Taking } from "./room.js";
import { type StreamSettings, settingFaults, warningsOf } from "./settings.js";
import type { Subjects } from "./subjects.js";

export interface StreamState {
  readonly config: StreamSettings;
  readonly created: string;
  readonly state: {
    readonly last_seq: number;
    readonly bytes: number;
    readonly messages: number;
    readonly subjects?: Readonly<Record<string, number>>;
  };
}

const NANOS = 1_000_000;
/** Room for the headers of a record within the largest message of a server. */
const HEADERS_BYTES = 512;

interface Wanted {
  /** Subjects whose records are counted. */
  readonly filter?: string;
  /** Milliseconds; absent: request_timeout. */
  readonly within?: number | undefined;
}

/** Undefined: there is no such stream. */
export async function streamState(link: Link, stream: string, wanted: Wanted = {}): Promise<StreamState | undefined> {
  const { filter, within } = wanted;
  const doing = `reading the settings of the stream "${stream}"`;
  const call = {
    ...(filter === undefined ? {} : { body: { subjects_filter: filter } }),
    ...(within === undefined ? {} : { within }),
  };
  try {
    return await link.api<StreamState>(doing, `STREAM.INFO.${stream}`, call);
  } catch (error) {
    if (isAnswer(error, apiCodes.streamNotFound)) return undefined;
    throw error;
  }
}

/**
 * Makes the stream. When another agent makes it at the same moment, or an earlier try did, that is the one: no two ask for the same description.
 * A cluster of 2.10 that is asked twice for the same stream tells the second moment as that of its making after a restart, and agents
 * would take it for another log.
 */
export async function makeStream(link: Link, config: JetStreamConfig, { stored }: Subjects): Promise<void> {
  const { stream, partitions, replicas, max_bytes } = config;
  const wanted = () => ({
    name: stream,
    description: `log of Deneb, partitions=${partitions}, asked for as ${randomBytes(9).toString("hex")}`,
    subjects: stored,
    retention: "limits",
    storage: "file",
    discard: "new",
    num_replicas: replicas,
    max_bytes: max_bytes === 0 ? -1 : max_bytes,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    max_age: 0,
    max_consumers: -1,
    // A server takes two minutes, or less where it allows no more.
    duplicate_window: 0,
    allow_direct: true,
  });
  try {
    await link.api(`making the stream "${stream}"`, `STREAM.CREATE.${stream}`, { body: wanted });
  } catch (error) {
    if (!isAnswer(error, apiCodes.nameInUse)) throw error;
  }
}

/** What the stream takes with the settings that it has now. */
export function takingOf({ config, state }: StreamState, wanted: JetStreamConfig, subjects: Subjects): Taking {
  const { max_bytes = 0, max_msgs = 0 } = config;
  const bytes = { used: state.bytes, limit: max_bytes };
  const messages = { used: state.messages, limit: max_msgs };
  return { fullness: { bytes, messages }, fault: settingFaults(config, wanted, subjects)[0] };
}

/** Names a stream, and not one of the same name that is made later. */
export function idOf(stream: string, { created }: StreamState): string {
  return `${stream}/${created.replaceAll(/[^\w.-]/g, "")}`;
}

/** What the opened log says of itself. Rejects with code `LOG_SETTINGS` when its settings are not those of a log. */
export function factsOf(found: StreamState, of: FactsOf): LogFacts {
  const { config, subjects, server, doing } = of;
  const [fault] = settingFaults(found.config, config, subjects);
  if (fault !== undefined) throw logSettings(doing, fault);
  const { max_msg_size = -1 } = found.config;
  const largest = max_msg_size > 0 ? Math.min(max_msg_size, server.max_payload) : server.max_payload;
  return {
    id: idOf(config.stream, found),
    partitions: config.partitions,
    largestRecord: Math.max(1, largest - HEADERS_BYTES),
    warnings: warningsOf(found.config, config.stream, server.version),
  };
}

/** So long the stream knows a record when it comes again, less the time for an answer to it. */
export function repeatMillisOf({ config }: StreamState, timeout: number): number {
  return config.duplicate_window / NANOS - timeout;
}

interface FactsOf {
  /** For messages. */
  readonly doing: string;
  readonly config: JetStreamConfig;
  readonly subjects: Subjects;
  readonly server: { readonly version: string; readonly max_payload: number };
}
