import type { DeadLetters, LetterCounts } from "../../pipeline/dead-letters/dead-letters.js";
import type { Ledger } from "../../pipeline/ledger.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import type { SampleState } from "../arrivals/arrival-sample.js";
import { capacityOf } from "../channel-room.js";
import type { Assembly, Running, RunningChannel } from "../component.js";
import type { Reload } from "../reload.js";
import { channelLedger } from "../state/ledger-snapshot.js";
import type { ComponentCondition, Readiness } from "../state/readiness.js";
import { sharedLogView } from "../state/shared-log-view.js";
import { idOf } from "../state/topology-view.js";
import type { JsonObject } from "./merge-patch.js";
import { Filling, Rates } from "./rates.js";

interface LiveViewParts {
  readonly agent: Pick<Agent, "name" | "assembly">;
  readonly ledger: Ledger;
  readonly letters: Pick<DeadLetters, "counts">;
  readonly readiness: Pick<Readiness, "conditions">;
  readonly reloads: Pick<Reload, "last">;
  readonly clock: Clock;
  readonly arrivals: { readonly state: Pick<SampleState, "on" | "until"> };
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime?: () => number;
}

/** Partitions of a shared log that a document shows: it is sent each second. */
const MOST_PARTITIONS = 20;

/** What one watcher saw last. */
interface Watch {
  readonly rates: Rates;
  readonly filling: Filling;
  readonly now: number;
}

/** What an agent does now. */
export class LiveView {
  /** When the process began, ISO 8601 UTC. */
  readonly started: string = new Date(Math.round(performance.timeOrigin)).toISOString();
  readonly #parts: LiveViewParts;
  readonly #uptime: () => number;
  #seen: Assembly | undefined;
  #revision = 0;

  constructor(parts: LiveViewParts) {
    this.#parts = parts;
    this.#uptime = parts.uptime ?? (() => performance.now());
  }

  /** Changes with each change of the components. */
  get revision(): number {
    const { assembly } = this.#parts.agent;
    if (assembly !== this.#seen) {
      this.#seen = assembly;
      this.#revision += 1;
    }
    return this.#revision;
  }

  /** Makes a document at each call, with rates since the call before; the first has none. */
  watch(): () => JsonObject {
    const rates = new Rates();
    const filling = new Filling();
    return () => this.#document({ rates, filling, now: this.#uptime() });
  }

  #document(watch: Watch): JsonObject {
    const { agent, letters, readiness, reloads, clock, arrivals } = this.#parts;
    const { on, until } = arrivals.state;
    const conditions = readiness.conditions();
    const { last } = reloads;
    const components = this.#components(agent.assembly, conditions, watch);
    return {
      time: clock.now().toISOString(),
      agent: {
        name: agent.name,
        started: this.started,
        revision: this.revision,
        ready: conditions.every(({ state }) => state !== "down"),
        arrivals: { on, until: until?.toISOString() },
        ...(last === undefined ? {} : { last_reload: { ...last, time: last.time.toISOString() } }),
      },
      components,
      dead_letters: Object.fromEntries(letters.counts().map((counts) => [`letters:${counts.sink}`, lettersOf(counts)])),
    };
  }

  #components(
    { sources, channels, sinks }: Assembly,
    conditions: readonly ComponentCondition[],
    watch: Watch,
  ): JsonObject {
    const health = new Map(conditions.map((condition) => [idOf(condition.kind, condition.name), healthOf(condition)]));
    const common = (kind: "source" | "channel" | "sink", { name, status, setupTime }: Running) => ({
      status,
      setup_time: setupTime.toISOString(),
      ...health.get(idOf(kind, name)),
    });
    const counted = (thing: Running, counts: Readonly<Record<string, number>>) => ({
      ...counts,
      ...watch.rates.of(thing, counts, watch.now),
    });
    const views: (readonly [string, JsonObject])[] = [
      ...sources.map((running) => {
        const counts = { accepted: running.processor.counters.processed, refused: running.receiver.refusals };
        return [idOf("source", running.name), { ...common("source", running), ...counted(running, counts) }] as const;
      }),
      ...channels.map((running) => {
        const { putsOk, takesOk, putsFailed } = running.channel.counters;
        const counts = { in: putsOk, out: takesOk, refused: putsFailed };
        const own = { ...common("channel", running), ...counted(running, counts), ...this.#fillOf(running, watch) };
        return [idOf("channel", running.name), own] as const;
      }),
      ...sinks.map((running) => {
        const { processed, persisted, deadLettered } = running.counters;
        const counts = { processed, stored: persisted, dead_lettered: deadLettered };
        return [idOf("sink", running.name), { ...common("sink", running), ...counted(running, counts) }] as const;
      }),
    ];
    return Object.fromEntries(views);
  }

  #fillOf(running: RunningChannel, { filling, now }: Watch): JsonObject {
    const { name, node, channel } = running;
    const capacity = capacityOf(node);
    const { size: events, bytes, waitingSince } = channel;
    const full =
      events === undefined || capacity === undefined
        ? undefined
        : filling.secondsUntilFull(running, { size: events, capacity }, now);
    const { name: _name, sinks: _sinks, ...ledger } = channelLedger(name, channel, this.#parts.ledger);
    return {
      events,
      capacity,
      bytes,
      ...(waitingSince === undefined
        ? {}
        : { oldest: new Date(waitingSince.since).toISOString(), oldest_exact: waitingSince.exact }),
      seconds_until_full: full,
      ledger,
      log: sharedLogView(channel, MOST_PARTITIONS),
    };
  }
}

function healthOf({ state, findings }: ComponentCondition): JsonObject {
  if (findings.length === 0) return { health: state };
  return { health: state, findings: findings.map((one) => ({ ...one, since: one.since.toISOString() })) };
}

function lettersOf(counts: LetterCounts): JsonObject {
  const { sink, waiting, replaying, reasons, bytes, oldest, deleted, shared } = counts;
  return {
    sink,
    waiting,
    replaying,
    permanent: reasons.permanent,
    retries_exhausted: reasons["retries-exhausted"],
    crashed_the_agent: reasons["crashed-the-agent"],
    stopped: reasons.stopped,
    bytes,
    oldest: oldest?.toISOString(),
    deleted,
    shared,
  };
}
