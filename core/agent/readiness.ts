import type { SinkProgress } from "../metrics/sink-progress.js";
import type { Clock } from "../tokens.js";
import type { Agent } from "./agent.js";
import type { RunningSink } from "./component.js";
import { healthOf } from "./health.js";

/** Why an agent does not do its work, and which component is the reason. */
export interface Obstacle {
  readonly component: string;
  readonly reason: string;
}

export interface ReadinessParts {
  readonly agent: Agent;
  readonly progress: SinkProgress;
  readonly clock: Clock;
  readonly stallSeconds: number;
}

/** Tells whether an agent takes notifications and stores them. */
export class Readiness {
  readonly #parts: ReadinessParts;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Empty when it is ready. */
  obstacles(): readonly Obstacle[] {
    const { agent } = this.#parts;
    const stopped = healthOf(agent).components.filter(({ status }) => status !== "START");
    return [
      ...stopped.map(({ name, status }) => ({ component: name, reason: `its status is ${status}` })),
      ...agent.assembly.sinks.flatMap((sink) => this.#stall(sink)),
    ];
  }

  /** A sink stalls when its channel has held events for too long and it has settled none of them in that time. */
  #stall({ name, node, channel, setupTime }: RunningSink): readonly Obstacle[] {
    const { progress, clock, stallSeconds } = this.#parts;
    if (channel.size === 0) return [];
    const since = latest([setupTime, channel.filledAt, progress.lastSettled(name)]);
    const seconds = Math.floor((clock.now().getTime() - since) / 1000);
    const { batchSize, batchTimeout } = node.batching;
    if (seconds <= stallSeconds + (batchSize > 1 ? batchTimeout : 0)) return [];
    const held = `channel "${node.channel}" holds ${channel.size} events`;
    return [{ component: name, reason: `${held} and the sink has not progressed for ${seconds} seconds` }];
  }
}

function latest(times: readonly (Date | undefined)[]): number {
  return Math.max(...times.map((time) => time?.getTime() ?? 0));
}
