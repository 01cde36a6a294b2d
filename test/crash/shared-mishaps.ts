import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/until.js";
import { patience } from "./measure.js";
import type { SharedAgent } from "./shared-agent.js";
import type { Mishap } from "./troubles.js";

/** Longer than the retries of a sink that makes dead letters, most of the time. */
const DATABASE_AWAY_MILLIS = 2000;

/** What befell the agents, and how long the others took to get on with their parts. */
export class MishapBook {
  readonly counts = new Map<string, number>();
  /** Milliseconds, by what befell the agent. */
  readonly takeovers = new Map<string, readonly number[]>();
  /** What befalls an agent now. */
  now = "";
  failedReloads = 0;

  note(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  noteTakeover(milliseconds: number): void {
    this.takeovers.set(this.now, [...(this.takeovers.get(this.now) ?? []), Math.round(milliseconds)]);
  }

  get text(): string {
    const counts = [...this.counts].map(([name, count]) => `${name} ${count}`).join(", ");
    const takeovers = [...this.takeovers].map(([name, all]) => `${name} ${all.length}, at most ${Math.max(...all)} ms`);
    return `${counts}; taken over: ${takeovers.join(", ")}; ${this.failedReloads} reloads failed`;
  }
}

export interface MishapsOf {
  readonly agents: readonly SharedAgent[];
  readonly random: () => number;
  readonly book: MishapBook;
  readonly sessionMillis: number;
}

/** What can befall one of several agents; each is over when that agent works again. */
export function agentMishaps(of: MishapsOf): Readonly<Record<string, Mishap>> {
  const { agents, random, book, sessionMillis } = of;
  const one = () => agents[Math.floor(random() * agents.length)];
  const befalls = (what: (victim: SharedAgent) => Promise<void>): Mishap => {
    return async () => {
      const victim = one();
      if (victim === undefined) return;
      await what(victim);
    };
  };
  const takenOver = (victim: SharedAgent, run: string | undefined) => takeover(of, victim, run);
  return {
    "agent killed": befalls(async (victim) => {
      await victim.end("SIGKILL");
      await victim.start();
    }),
    "agent killed and away": befalls(async (victim) => {
      const run = await owning(victim);
      await victim.end("SIGKILL");
      await takenOver(victim, run);
      await victim.start();
    }),
    "agent frozen": befalls(async (victim) => {
      const run = await owning(victim);
      await victim.freeze();
      await takenOver(victim, run);
      await pause(random() * sessionMillis);
      victim.thaw();
    }),
    "agent cut off from the database": befalls(async (victim) => {
      const run = await owning(victim);
      victim.setup.ways.database.close();
      await takenOver(victim, run);
      victim.setup.ways.database.open();
    }),
    "database away": async () => {
      const ways = agents.map(({ setup }) => setup.ways.database);
      for (const way of ways) way.close();
      await pause(DATABASE_AWAY_MILLIS * (0.5 + random()));
      for (const way of ways) way.open();
    },
    "commit not answered": befalls(async (victim) => {
      const { database } = victim.setup.ways;
      // It may have no parts, or a server that says otherwise that it has committed.
      await Promise.race([database.breakAtCommit(), pause(sessionMillis)]);
      database.close();
      await pause(DATABASE_AWAY_MILLIS * random());
      database.open();
    }),
    ...(agents.every(({ setup }) => setup.ways.engine !== undefined)
      ? {
          "agent cut off from the log": befalls(async (victim) => {
            const run = await owning(victim);
            victim.setup.ways.engine?.close();
            await takenOver(victim, run);
            victim.setup.ways.engine?.open();
          }),
        }
      : {}),
    "agent restarted": befalls(async (victim) => {
      await victim.end("SIGTERM");
      await victim.start();
    }),
    "agent reloaded": befalls(async (victim) => {
      await working(victim);
      if (!(await victim.reload())) book.failedReloads += 1;
    }),
  };
}

/** Waits until the parts of an agent are those of others, as these say. */
async function takeover({ agents, book }: MishapsOf, victim: SharedAgent, run: string | undefined): Promise<void> {
  const begin = performance.now();
  const others = agents.filter((agent) => agent !== victim);
  const sights = () => Promise.all(others.map((agent) => agent.log()));
  await until(
    sights,
    (logs) =>
      logs.some(
        (log) => log !== undefined && log.num_unattended === 0 && log.partitions.every(({ agent }) => agent !== run),
      ),
    patience,
  );
  book.noteTakeover(performance.now() - begin);
}

/** The run of the agent once it works on parts. */
async function owning(agent: SharedAgent): Promise<string | undefined> {
  const log = await until(
    () => agent.log(),
    (sight) => sight?.agents.some(({ mine, partitions }) => mine && partitions > 0) === true,
    patience,
  );
  return log?.agents.find(({ mine }) => mine)?.run;
}

/** Resolves when the agent has opened the log. */
export async function working(agent: SharedAgent): Promise<void> {
  await until(
    () => agent.log(),
    (log) => log !== undefined,
    patience,
  );
}

/** The first ones, then more of all in turn, in another order each time, with the pauses between them. */
export async function inTurn(
  all: Readonly<Record<string, Mishap>>,
  { first, more }: { readonly first: readonly string[]; readonly more: number },
  of: MishapsOf,
): Promise<void> {
  const befalls = async (name: string) => {
    of.book.now = name;
    const mishap = all[name];
    if (mishap === undefined) throw new Error(`"${name}" cannot befall these agents`);
    await mishap();
    of.book.note(name);
    await pause(of.random() * 500);
  };
  for (const name of first) await befalls(name);
  let left: string[] = [];
  for (let round = 0; round < more; round += 1) {
    if (left.length === 0) left = Object.keys(all);
    for (const name of left.splice(Math.floor(of.random() * left.length), 1)) await befalls(name);
  }
}
