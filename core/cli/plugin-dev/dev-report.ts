import type { ComponentNode, Topology } from "../../configuration/topology.js";
import type { EmbeddedAgent } from "../../embedded/embedded-agent.js";
import { counted } from "../../sdk/counted.js";
import { type AnyPlugin, type Event, type Logger, reasonOf } from "../../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../../tokens.js";
import { placesOf } from "../plugin-places.js";

const longestText = 300;

/** An event in one line. */
export function eventText({ body }: Event): string {
  const text = JSON.stringify(body) ?? "undefined";
  return text.length <= longestText ? text : `${text.slice(0, longestText)}… (${text.length} characters)`;
}

/** Prints what the components of the plugin log and are given, and sums it up. */
export class DevReport implements Partial<TransactionObserver> {
  readonly #print: (line: string) => void;
  /** Names of the components that are of the plugin. */
  readonly #own: ReadonlySet<string>;
  readonly #ports = new Map<string, number>();
  readonly #shown = new Set<string>();
  #attempts: readonly WriteAttempt[] = [];
  #before = noTotals;
  #last = noTotals;

  constructor(topology: Topology, plugins: readonly AnyPlugin[], print: (line: string) => void) {
    this.#print = print;
    this.#own = new Set(
      nodesOf(topology)
        .filter(({ definition }) => plugins.includes(definition))
        .map(({ name }) => name),
    );
  }

  /** The port that a source has logged. */
  portOf(source: string): number | undefined {
    return this.#ports.get(source);
  }

  /** All lines of the plugin, warnings and errors of the others. */
  logger(component: string): Logger {
    const write = (level: string, isUrgent: boolean) => (fields: object, message: string) => {
      const port: unknown = Reflect.get(fields, "port");
      if (typeof port === "number") this.#ports.set(component, port);
      if (!isUrgent && !this.#own.has(component)) return;
      this.#print(`${level} ${component}: ${message}${fieldsText(fields)}`);
    };
    return {
      debug: write("debug", false),
      info: write("info", false),
      warn: write("warn", true),
      error: write("error", true),
    };
  }

  readonly attempted = (attempt: WriteAttempt): void => {
    if (!this.#own.has(attempt.sink)) return;
    this.#attempts = [...this.#attempts, attempt];
    const { sink, events, receipt, error } = attempt;
    for (const event of events) this.#print(`sink ${sink} was given ${eventText(event)}`);
    const outcome = receipt === undefined ? "did not store" : "stored";
    const reason = error === undefined ? "" : `: ${reasonOf(error)}`;
    this.#print(`sink ${sink} ${outcome} ${counted(events.length, "event")} in ${millisecondsOf(attempt)} ms${reason}`);
    for (const place of placesOf(error)) this.#print(`  ${place}`);
  };

  begin(): void {
    this.#attempts = [];
    this.#before = this.#last;
  }

  /** Dead letters that were not shown yet, and the sums since the beginning. */
  async end(agent: EmbeddedAgent): Promise<void> {
    for (const { id, sink, reason, code, message, event } of await agent.deadLetters()) {
      if (this.#shown.has(id)) continue;
      this.#shown.add(id);
      const kind = code === undefined ? reason : `${reason}, ${code}`;
      this.#print(`dead letter of sink ${sink} (${kind}): ${message}: ${eventText(event)}`);
    }
    const totals = agent.totals();
    this.#last = totals;
    const since = (name: keyof Totals) => totals[name] - this.#before[name];
    const longest = Math.max(0, ...this.#attempts.map(millisecondsOf));
    const writes =
      this.#attempts.length === 0 ? "" : `; ${counted(this.#attempts.length, "write")}, the longest ${longest} ms`;
    const { received, stored, dead, filtered } = {
      received: since("received"),
      stored: since("stored"),
      dead: since("deadLetters"),
      filtered: since("filtered"),
    };
    const others = `${stored} stored, ${counted(dead, "dead letter")}${filtered > 0 ? `, ${filtered} filtered` : ""}`;
    this.#print(`${counted(received, "event")} in, ${others}${writes}`);
  }
}

type Totals = ReturnType<EmbeddedAgent["totals"]>;

const noTotals: Totals = { received: 0, stored: 0, deadLetters: 0, filtered: 0 };

function nodesOf({ sources, channels, sinks, groups = [] }: Topology): readonly ComponentNode[] {
  const nested = sources.flatMap(({ interceptors, selector, slots }) => [
    ...interceptors,
    selector,
    ...Object.values(slots),
  ]);
  const processors = groups.map(({ name, processor }) => ({ ...processor, name }));
  return [...sources, ...channels, ...sinks, ...nested, ...processors];
}

function millisecondsOf({ startedAt, finishedAt }: WriteAttempt): number {
  return finishedAt.getTime() - startedAt.getTime();
}

function fieldsText(fields: object): string {
  try {
    const text = JSON.stringify(fields);
    return text === "{}" ? "" : ` ${text}`;
  } catch (error) {
    return ` (fields that are no JSON: ${reasonOf(error)})`;
  }
}
