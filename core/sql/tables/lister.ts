import type { Context } from "../../sdk/index.js";
import { type TableName, tableKey } from "../contract/statement.js";

/** Who lists a table: a sink of an agent. Earlier versions noted the sink alone. */
export interface Lister {
  readonly agent: string | undefined;
  readonly sink: string;
}

export function listerOf({ agent, name }: Pick<Context, "agent" | "name">): Lister {
  return { agent, sink: name };
}

/** As it is written in a register, where older rows have the sink alone. Names of agents and sinks have no dots. */
export function listerText({ agent, sink }: Lister): string {
  return agent === undefined ? sink : `${agent}.${sink}`;
}

export function readLister(text: string): Lister {
  const dot = text.indexOf(".");
  return dot === -1 ? { agent: undefined, sink: text } : { agent: text.slice(0, dot), sink: text.slice(dot + 1) };
}

export function isSameLister(one: Lister, other: Lister): boolean {
  return one.agent === other.agent && one.sink === other.sink;
}

/** For people. */
export function printedLister({ agent, sink }: Partial<Lister>): string {
  return agent === undefined ? `sink "${sink}"` : `sink "${sink}" of agent "${agent}"`;
}

/** A table and who has listed it. */
interface Listed {
  readonly name: TableName;
  readonly lister: Lister;
}

/**
 * Whose a listed table is from the point of view of a sink. `unclear`: an earlier version listed it under the name of this
 * sink, and several agents have a sink of that name.
 */
type Belonging = "own" | "unclear" | "other";

/** Decides about the rows of all registers of a store. */
export class Belongings {
  readonly #self: Lister;
  /** The agents that have listed a table for a sink of this name. */
  readonly #agents = new Map<string, Set<string>>();
  readonly #hasRival: boolean;

  constructor(all: readonly Listed[], self: Lister) {
    this.#self = self;
    let hasRival = false;
    for (const { name, lister } of all) {
      if (lister.agent === undefined || lister.sink !== self.sink) continue;
      hasRival ||= lister.agent !== self.agent;
      const agents = this.#agents.get(tableKey(name)) ?? new Set();
      this.#agents.set(tableKey(name), agents.add(lister.agent));
    }
    this.#hasRival = hasRival;
  }

  of({ name, lister }: Listed): Belonging {
    const { agent, sink } = this.#self;
    if (lister.sink !== sink) return "other";
    // What has no agent of its own means every sink of that name.
    if (agent === undefined || lister.agent === agent) return "own";
    if (lister.agent !== undefined || this.#agents.has(tableKey(name))) return "other";
    return this.#hasRival ? "unclear" : "own";
  }
}

/** Why nothing is done with a table that is unclear. */
export const UNCLEAR =
  "an earlier version listed it, and several agents have a sink of this name; deneb tables adopt lists it under this one";
