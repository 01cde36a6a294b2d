import assert from "node:assert/strict";
import type { Batch, Event } from "../../core/sdk/index.js";
import type { Driver, Store } from "../../core/sql/contract/driver.js";
import type { SqlSink } from "../../core/sql/sql-sink.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { configOf, entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";
import { sharedBatch } from "../support/shared-position.js";

/** How many events the log holds. */
export const EVENTS = 24;
export const AGENTS = 3;
const CHANNEL = "log/group/0";
/** Each is a file, which commits by itself. */
const SERVICES = ["s0", "s1"] as const;

export type AgentStep =
  /** Reads this number of events from where it believes to be. */
  | { readonly do: "take"; readonly agent: number; readonly events: number }
  /** Writes what it has taken, as a whole or in two halves; nothing if it has none. */
  | { readonly do: "write"; readonly agent: number; readonly halves: boolean }
  /** Two agents write at the same time. */
  | { readonly do: "race"; readonly agent: number; readonly other: number }
  /** The connection breaks before or after the commit; the agent tries again, or the process ends. */
  | { readonly do: "break"; readonly agent: number; readonly when: "before" | "after"; readonly dies: boolean }
  /** It begins with an earlier event again, as after a takeover. */
  | { readonly do: "rewind"; readonly agent: number; readonly events: number };

/** Agents that take events of one partition without any lease, and store them in SQLite files of one folder. */
export class SharedAgents {
  readonly #folder: string;
  readonly #store: Store;
  readonly #agents: Agent[] = [];
  readonly #sinks: SqlSink[] = [];
  #runs = 0;
  /** The largest position that was seen, by file. */
  readonly #reached = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
    const config = configOf({ rdb_dialect: "sqlite", rdb_folder: folder });
    const context = { name: "sink", log: recordingLog().log, dataDir: "", run: "x", now: () => new Date(0) };
    this.#store = databases.sqlite.open(config, context);
    for (let agent = 0; agent < AGENTS; agent += 1) this.#agents.push(this.#started());
  }

  async step(step: AgentStep): Promise<void> {
    const agent = this.#agentAt(step.agent);
    if (step.do === "take") agent.take(step.events);
    if (step.do === "rewind") agent.rewind(step.events);
    if (step.do === "write") await agent.write(step.halves);
    // A sink is given one batch after another.
    if (step.do === "race" && step.other !== step.agent) {
      await Promise.all([agent.write(false), this.#agentAt(step.other).write(false)]);
    }
    if (step.do === "break") {
      agent.breaks(step.when);
      await agent.write(false);
      if (step.dies) this.#agents[step.agent] = this.#started(agent.stored);
    }
    await this.#checkPositions();
  }

  /** One agent goes through the whole log; then everything is there once, in order, and counted. */
  async settle(): Promise<void> {
    const last = this.#agentAt(0);
    last.rewind(EVENTS);
    last.take(EVENTS);
    await last.write(false);
    const rows = await this.#rows();
    const wanted = SERVICES.map((_, service) => numbersOf(service));
    assert.deepEqual(rows, wanted);
    const stored = this.#agents.reduce((sum, agent) => sum + agent.stored, 0);
    assert.ok(stored <= EVENTS, `the agents count ${stored} events as stored, there are ${EVENTS}`);
    assert.equal(await this.#counted(), EVENTS);
    await this.#checkPositions();
  }

  async end(): Promise<void> {
    for (const sink of this.#sinks) await sink.stop(never);
    await this.#store.driver.close(never);
  }

  #agentAt(index: number): Agent {
    const agent = this.#agents[index];
    assert.ok(agent);
    return agent;
  }

  #started(stored = 0): Agent {
    this.#runs += 1;
    const breaking = new BreakingDriver(this.#store.driver);
    const store = { ...this.#store, driver: breaking.driver };
    const config = { rdb_dialect: "sqlite", rdb_folder: this.#folder } as const;
    const { sink } = sinkOf(config, undefined, store, { run: `host,${this.#runs},since,random` });
    this.#sinks.push(sink);
    return new Agent(sink, breaking, stored);
  }

  async #rows(): Promise<readonly (readonly number[])[]> {
    return await Promise.all(
      SERVICES.map(async (service) =>
        (await this.#select(service, "SELECT a FROM e ORDER BY rowid")).map(([a]) => Number(a)),
      ),
    );
  }

  /** A position of a file never moves back. */
  async #checkPositions(): Promise<void> {
    for (const service of SERVICES) {
      const text = "SELECT deneb_channel, deneb_position FROM deneb_positions";
      for (const [channel = "", position = ""] of await this.#select(service, text)) {
        const key = `${service} ${channel}`;
        const number = Number(position.split(":").at(-1));
        const before = this.#reached.get(key) ?? 0;
        assert.ok(number >= before, `the position "${key}" moved back from ${before} to ${number}`);
        this.#reached.set(key, number);
      }
    }
  }

  async #counted(): Promise<number> {
    const sums = await Promise.all(
      SERVICES.map((service) => this.#select(service, "SELECT sum(deneb_events) FROM deneb_positions")),
    );
    return sums.reduce((sum, [row]) => sum + Number(row?.[0] ?? 0), 0);
  }

  async #select(schema: string, text: string): Promise<readonly (readonly (string | undefined)[])[]> {
    try {
      return await this.#store.driver.read([{ at: { database: "", schema }, text, runs: [[]] }], never);
    } catch (error) {
      if (String(error).includes("no such table")) return [];
      throw error;
    }
  }
}

/** Decoded by each agent for itself. */
function eventsOfLog(): readonly Event[] {
  return Array.from({ length: EVENTS }, (_, number) =>
    eventOf(entity("e", { a: String(number) }), SERVICES[serviceOf(number)] ?? ""),
  );
}

function serviceOf(number: number): number {
  return (number * 5 + Math.floor(number / 3)) % SERVICES.length;
}

function numbersOf(service: number): readonly number[] {
  return Array.from({ length: EVENTS }, (_, number) => number).filter((number) => serviceOf(number) === service);
}

class Agent {
  readonly #sink: SqlSink;
  readonly #breaking: BreakingDriver;
  /** Where it believes the partition to be stored. */
  #at = 0;
  #taken: { readonly from: number; readonly to: number; readonly events: readonly Event[] } | undefined;
  stored: number;

  constructor(sink: SqlSink, breaking: BreakingDriver, stored: number) {
    this.#sink = sink;
    this.#breaking = breaking;
    this.stored = stored;
  }

  take(events: number): void {
    const to = Math.min(EVENTS, this.#at + events);
    this.#taken ??= { from: this.#at, to, events: eventsOfLog() };
  }

  rewind(events: number): void {
    this.#at = Math.max(0, this.#at - events);
    this.#taken = undefined;
  }

  breaks(when: "before" | "after"): void {
    if (this.#taken !== undefined) this.#breaking.next = when;
  }

  async write(halves: boolean): Promise<void> {
    if (this.#taken === undefined) return;
    const { from, to, events } = this.#taken;
    const middle = halves ? Math.ceil((from + to) / 2) : to;
    for (const [start, end] of [[from, middle] as const, [middle, to] as const]) {
      if (start === end) continue;
      const receipt = await this.#persisted(sharedBatch(CHANNEL, events, start, end));
      if (receipt === undefined) return;
      this.stored += end - start - receipt;
    }
    this.#at = to;
    this.#taken = undefined;
  }

  /** The number of events that another agent has stored; undefined after a failure. */
  async #persisted(batch: Batch): Promise<number | undefined> {
    try {
      return ((await this.#sink.persist(batch, never)).elsewhere ?? []).length;
    } catch (error) {
      if (String(error).includes("broken")) return undefined;
      throw error;
    } finally {
      this.#breaking.next = undefined;
    }
  }
}

/** A connection that breaks once, before or after a commit of rows. */
class BreakingDriver {
  readonly driver: Driver;
  next: "before" | "after" | undefined;

  constructor(of: Driver) {
    this.driver = {
      probe: (signal) => of.probe(signal),
      read: (statements, signal) => of.read(statements, signal),
      commitUnits: (signal) => of.commitUnits(signal),
      close: async () => undefined,
      write: async (statements, signal) => {
        const breaks = statements.some(({ changes }) => changes !== undefined) ? this.next : undefined;
        if (breaks === undefined) return await of.write(statements, signal);
        this.next = undefined;
        if (breaks === "after") await of.write(statements, signal);
        throw new Error("the connection is broken");
      },
    };
  }
}
