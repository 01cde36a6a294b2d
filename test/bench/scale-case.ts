import { agentCase, type MadeCase } from "./case.js";
import type { LogEngine } from "./log-engine.js";

/** Something that several agents over one log do. */
export interface ScaleCase {
  readonly name: string;
  readonly kind: "two agents" | "stages" | "takeover" | "partitions";
  readonly engine: LogEngine;
  readonly bench: MadeCase;
}

/** One figure of a run; the same in each run. */
export interface ScaleFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: ScaleUnit;
}

export type ScaleUnit = "/s" | "µs" | "ms" | "s" | "KiB" | "MiB";

const words = {
  "two agents": "two agents, load split",
  stages: "one agent receives, another one stores",
  takeover: "takeover after kill -9",
  partitions: "memory with 8 and 1,000 partitions",
} satisfies Record<ScaleCase["kind"], string>;

export const scaleCases: readonly ScaleCase[] = (["kafka", "jetstream"] as const).flatMap((engine) =>
  (["two agents", "stages", "takeover", "partitions"] as const).map((kind) => {
    const bench = agentCase({ database: "postgresql", channel: engine, batchSize: 1, entities: 100 });
    const name = `scale: ${engine}, ${words[kind]}`;
    return { name, kind, engine, bench: { ...bench, name } };
  }),
);
