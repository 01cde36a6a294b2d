import type { NatsConnection } from "@nats-io/transport-node";
import type {
  Appended,
  Bounds,
  LogFacts,
  LogPart,
  LogRecord,
  LogSettings,
  PartitionedLog,
  ReadLimits,
} from "deneb/log";
import { type Examiner, type Probe, withEither } from "deneb/sdk";
import type { JetStreamConfig } from "../config.js";
import { Announcements } from "./announcements.js";
import { boundsOf } from "./bounds.js";
import { logSettings, logUnavailable } from "./errors.js";
import { Identity } from "./identity.js";
import { Link } from "./link.js";
import { Parts } from "./parts.js";
import { jetstreamProbes } from "./probes.js";
import { Reader } from "./reader.js";
import { StreamRecords } from "./records.js";
import { Room } from "./room.js";
import { factsOf, idOf, makeStream, repeatMillisOf, type StreamState, streamState, takingOf } from "./stream.js";
import { type Subjects, subjectsOf } from "./subjects.js";
import { Trimming } from "./trimming.js";
import { Writer } from "./writer.js";

interface Opened {
  readonly identity: Identity;
  readonly records: StreamRecords;
  readonly reader: Reader;
  readonly trimming: Trimming;
  readonly writer: Writer;
  /** What somebody may change meanwhile. */
  largestRecord: number;
}

/** A log in one stream of JetStream; offsets are the sequences of the stream. */
export class JetStreamLog implements PartitionedLog {
  readonly #config: JetStreamConfig;
  readonly #component: string;
  readonly #subjects: Subjects;
  readonly #link: Link;
  readonly #parts = new Parts();
  readonly #announcements: Announcements;
  #opened: Opened | undefined;
  #ended = new AbortController();

  /** `component` is the name and kind for messages, such as `channel "log"`. */
  constructor(config: JetStreamConfig, component: string) {
    this.#config = config;
    this.#component = component;
    this.#subjects = subjectsOf(config.stream);
    this.#link = new Link(config, component, (connection) => this.#listen(connection));
    this.#announcements = new Announcements(this.#link, this.#subjects);
  }

  async open(_signal: AbortSignal): Promise<LogFacts> {
    this.#opened = undefined;
    this.#ended = new AbortController();
    this.#link.reopen();
    this.#parts.uncertain();
    const { stream, create_stream, request_timeout: timeout } = this.#config;
    const doing = `opening the stream "${stream}"`;
    let found = await streamState(this.#link, stream);
    if (found === undefined && create_stream) {
      await makeStream(this.#link, this.#config, this.#subjects);
      found = await streamState(this.#link, stream);
    }
    if (found === undefined) throw logSettings(doing, "it does not exist; make it or set create_stream = true");
    const facts = await this.#facts(found, doing);
    const link = this.#link;
    const id = idOf(stream, found);
    const taking = (state: StreamState) => takingOf(state, this.#config, this.#subjects);
    const room = new Room(taking(found), () => identity.check());
    let { num_replicas } = found.config;
    const told = (state: StreamState) => {
      ({ num_replicas } = state.config);
      room.told(taking(state));
    };
    const identity = new Identity({ link, stream, id, newest: found.state.last_seq, timeout, told });
    const largestRecord = () => this.#opened?.largestRecord ?? facts.largestRecord;
    const shared = { link, stream, subjects: this.#subjects, identity };
    const wrote = (part: LogPart, offset: number) => this.#announce(part, offset);
    const repeatMillis = repeatMillisOf(found, timeout);
    const isReplicated = () => num_replicas > 1;
    const writer = new Writer({ ...shared, room, largestRecord, isReplicated, timeout, repeatMillis, wrote });
    const saw = (part: LogPart, offset: number) => writer.saw(part, offset);
    const records = new StreamRecords(link, stream);
    const trimming = new Trimming({ ...shared, records });
    const reader = new Reader({ ...shared, parts: this.#parts, records, saw });
    this.#opened = { identity, records, trimming, writer, reader, largestRecord: facts.largestRecord };
    return facts;
  }

  async settings(): Promise<LogSettings> {
    const doing = `using the stream "${this.#config.stream}"`;
    const opened = this.#open(doing);
    // One of this name that was made later is another log.
    await opened.identity.check();
    const found = await streamState(this.#link, this.#config.stream);
    if (found === undefined) throw logUnavailable(doing, "it is gone");
    const facts = await this.#facts(found, doing);
    opened.largestRecord = facts.largestRecord;
    return facts;
  }

  async append(part: LogPart, value: Uint8Array, name?: string): Promise<Appended> {
    return await this.#open("appending a record").writer.append(part, value, name);
  }

  async read(
    from: ReadonlyMap<LogPart, number>,
    limits: ReadLimits,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<LogPart, readonly LogRecord[]>> {
    const { reader } = this.#open("reading records");
    const ended = this.#ended.signal;
    try {
      return await withEither([signal, ended], (either) => reader.read(from, limits, either));
    } catch (error) {
      if (ended.aborted) return new Map();
      throw error;
    }
  }

  async bounds(parts: readonly LogPart[]): Promise<ReadonlyMap<LogPart, Bounds>> {
    const { identity, records } = this.#open("measuring parts");
    await identity.check();
    const { stream } = this.#config;
    return await boundsOf({ link: this.#link, stream, subjects: this.#subjects, records }, parts);
  }

  async trim(before: ReadonlyMap<LogPart, number>, signal?: AbortSignal): Promise<void> {
    await this.#open("removing records").trimming.trim(before, signal);
  }

  async close(_signal: AbortSignal): Promise<void> {
    this.#opened = undefined;
    this.#ended.abort();
    this.#announcements.flush();
    await this.#link.close();
  }

  probes(examiner: Examiner): readonly Probe[] {
    return jetstreamProbes(this.#config, this.#component, examiner);
  }

  async #facts(found: StreamState, doing: string): Promise<LogFacts> {
    const server = (await this.#link.connection(doing)).info ?? { version: "0", max_payload: 0 };
    return factsOf(found, { doing, config: this.#config, subjects: this.#subjects, server });
  }

  #open(doing: string): Opened {
    if (this.#opened === undefined) throw logUnavailable(doing, `the stream "${this.#config.stream}" is not open`);
    return this.#opened;
  }

  /** Other agents hear of a record at once; those who do not ask for it a little later. */
  #announce(part: LogPart, offset: number): void {
    this.#parts.announced(part, offset);
    this.#announcements.add(part, offset);
  }

  #listen(connection: NatsConnection): void {
    connection.subscribe(this.#subjects.announced, {
      callback: (error, message) => {
        const part = error === null ? this.#subjects.part(message.subject) : undefined;
        const offset = part === undefined ? Number.NaN : Number(message.string());
        if (part !== undefined && Number.isSafeInteger(offset)) this.#parts.announced(part, offset);
      },
    });
    this.#parts.uncertain();
    this.#opened?.identity.uncertain();
    connection.closed().then(
      () => this.#parts.uncertain(),
      () => undefined,
    );
  }
}
