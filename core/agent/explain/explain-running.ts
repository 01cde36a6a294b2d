import { setImmediate as nextTurn } from "node:timers/promises";
import type { SourceNode, Topology } from "../../configuration/topology.js";
import { silentLoggers } from "../../logging/loggers.js";
import { AgentError, type Event, onAbort } from "../../sdk/index.js";
import { refusedByHandler } from "../../sdk/source.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import {
  decodedBy,
  type ExplainedEvent,
  type ExplainedSink,
  type ExplainParts,
  explainedSink,
  routes,
  targetOf,
} from "./explain.js";

/** A notification that somebody pastes. */
export interface PastedRequest {
  readonly method: string;
  /** Absent: the one that the handler of the source takes. */
  readonly path?: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Only at this source; absent: at each with a handler. */
  readonly source?: string;
}

export interface RunningExplanation {
  readonly events: readonly ExplainedEvent[];
  /** The sources whose handler would refuse the request. */
  readonly refused: readonly {
    readonly source: string;
    readonly status: number;
    readonly cause: string;
    readonly reason: string;
  }[];
  /** False when a limit ended it. */
  readonly complete: boolean;
}

const MOST_EVENTS = 100;
const MOST_EXPLANATIONS = 1000;
const MOST_CHARACTERS = 4_000_000;
const LONGEST = 10_000;
/** Explanations that are made at the same time. */
const AT_ONCE = 2;

interface ExplainRunningParts {
  readonly agent: Pick<Agent, "name" | "assembly">;
  readonly clock: Clock;
  readonly dataDir: string;
  /** Milliseconds after which what is there is the answer. */
  readonly longest?: number;
}

/** Explains what the running configuration would do with a request. Nothing is stored; the work is limited. */
export class ExplainRunning {
  readonly #parts: ExplainRunningParts;
  #underway = 0;

  constructor(parts: ExplainRunningParts) {
    this.#parts = parts;
  }

  /** Throws codes NO_SUCH_SOURCE and TOO_MANY_EXPLANATIONS. */
  async explain(request: PastedRequest): Promise<RunningExplanation> {
    const { agent, clock, dataDir, longest = LONGEST } = this.#parts;
    const { sources, channels, sinks } = agent.assembly;
    const nodes = sources.map(({ node }) => node);
    const chosen = sourcesFor(request, nodes);
    if (this.#underway >= AT_ONCE) {
      const message = `explaining a request while ${AT_ONCE} others are explained; try again when they have ended`;
      throw new AgentError("TOO_MANY_EXPLANATIONS", message, { retryable: true });
    }
    const topology = {
      agent: agent.name,
      sources: chosen,
      channels: channels.map(({ node }) => node),
      sinks: sinks.map(({ node }) => node),
    };
    const run = new Run(topology, { loggers: silentLoggers, clock, dataDir }, AbortSignal.timeout(longest));
    this.#underway += 1;
    try {
      return await run.result(request);
    } finally {
      this.#underway -= 1;
    }
  }
}

function sourcesFor({ source }: PastedRequest, all: readonly SourceNode[]): readonly SourceNode[] {
  const withHandler = all.filter(({ slots }) => slots["handler"] !== undefined);
  if (source === undefined) return withHandler;
  const chosen = withHandler.filter(({ name }) => name === source);
  if (chosen.length > 0) return chosen;
  const known = withHandler.map(({ name }) => `"${name}"`).join(", ");
  const message = `explaining a request at source "${source}"; the sources with a handler are: ${known}`;
  throw new AgentError("NO_SUCH_SOURCE", message, { retryable: false });
}

/** One explanation, as far as it comes within the limits. */
class Run {
  readonly #topology: Topology;
  readonly #parts: ExplainParts;
  readonly #limit: AbortSignal;
  readonly #events: { readonly event: Omit<ExplainedEvent, "sinks">; readonly sinks: ExplainedSink[] }[] = [];
  readonly #refused: RunningExplanation["refused"][number][] = [];
  #explanations = 0;
  #characters = 0;
  #isCut = false;

  constructor(topology: Topology, parts: ExplainParts, limit: AbortSignal) {
    this.#topology = topology;
    this.#parts = parts;
    this.#limit = limit;
  }

  async result(request: PastedRequest): Promise<RunningExplanation> {
    let stopListening = () => {};
    // A plugin that never answers must not keep the caller.
    const late = new Promise<void>((resolve) => {
      stopListening = onAbort(this.#limit, () => {
        this.#isCut = true;
        resolve();
      });
    });
    const work = this.#all(request);
    work.catch(() => undefined);
    await Promise.race([work, late]).finally(() => stopListening());
    const events = this.#events.map(({ event, sinks }) => ({ ...event, sinks: [...sinks] }));
    return { events, refused: [...this.#refused], complete: !this.#isCut };
  }

  async #all(request: PastedRequest): Promise<void> {
    for (const source of this.#topology.sources) {
      if (this.#isCut) return;
      await this.#at(source, request);
    }
  }

  async #at(source: SourceNode, { path, ...request }: PastedRequest): Promise<void> {
    const handler = source.slots["handler"];
    if (handler === undefined) return;
    const inbound = { ...request, path: path ?? targetOf(handler), receivedAt: this.#parts.clock.now() };
    let decoded: ReturnType<typeof decodedBy>;
    try {
      decoded = decodedBy(handler, inbound, this.#parts);
    } catch (error) {
      const { status, cause, reason } = refusedByHandler(error);
      this.#refused.push({ source: source.name, status, cause, reason });
      return;
    }
    const room = MOST_EVENTS - this.#events.length;
    for (const { event, channels } of await routes(source, decoded.slice(0, room), this.#parts)) {
      if (this.#isFull(JSON.stringify(event).length)) return;
      const sinks: ExplainedSink[] = [];
      this.#events.push({ event: { source: source.name, event, channels: [...channels.keys()] }, sinks });
      if (!(await this.#explain(channels, sinks))) return;
    }
    if (decoded.length > room) this.#isCut = true;
  }

  /** False when a limit ended it. */
  async #explain(channels: ReadonlyMap<string, Event>, explained: ExplainedSink[]): Promise<boolean> {
    for (const sink of this.#topology.sinks) {
      const routed = channels.get(sink.channel);
      if (routed === undefined) continue;
      const one = await explainedSink(sink, routed, this.#parts);
      // A sink need not wait for anything: a thousand explanations in one turn would hold up all else that the agent does.
      await nextTurn();
      this.#explanations += 1;
      if (this.#isFull((JSON.stringify(one) ?? "").length)) return false;
      explained.push(one);
    }
    return true;
  }

  #isFull(characters: number): boolean {
    this.#characters += characters;
    this.#isCut ||= this.#explanations >= MOST_EXPLANATIONS || this.#characters > MOST_CHARACTERS;
    return this.#isCut;
  }
}
