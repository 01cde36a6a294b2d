import type { CertificateState } from "../../metrics/host-instruments.js";
import type { AgentReadings } from "../../metrics/prometheus.js";
import type { RefusalCause } from "../../metrics/source-instruments.js";
import type { DeadLetters, LetterCounts } from "../../pipeline/dead-letters/dead-letters.js";
import { noLetters } from "../../pipeline/dead-letters/letter-index.js";
import type { Ledger } from "../../pipeline/ledger.js";
import type { Clock } from "../../tokens.js";
import type { Agent } from "../agent.js";
import { keeperOf, type RunningSink, type RunningSource } from "../component.js";
import { partsOf } from "../parts-of.js";
import type { UsedFolders } from "../used-folders.js";
import { componentStates } from "./component-states.js";
import { ledgerSnapshot, steadyBooks } from "./ledger-snapshot.js";
import type { ComponentCondition } from "./readiness.js";
import type { RecentActivity } from "./recent-activity.js";

interface ObservedParts {
  readonly activity: RecentActivity;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly deadLetters: Pick<DeadLetters, "counts">;
  readonly folders: UsedFolders;
  readonly conditions: () => readonly ComponentCondition[];
  readonly certificates: () => Promise<readonly CertificateState[]>;
  /** Of the dead letters of one sink; 0 is no limit. */
  readonly limitBytes: number;
}

/** What the metrics read from an agent. */
export function observed(agent: Agent, parts: ObservedParts): AgentReadings {
  const { deadLetters, ledger, folders, certificates, limitBytes } = parts;
  return {
    components: () => componentStates(agent, parts),
    letters: { limitBytes, counts: () => withEmpty(deadLetters.counts(), agent.assembly.sinks) },
    refusals: (name) => agent.assembly.sources.filter((source) => source.name === name).flatMap(refusalsOf),
    books: () => steadyBooks(() => ledgerSnapshot(agent.assembly.channels, ledger).channels),
    host: async () => {
      const [disks, states] = await Promise.all([folders.disks(), certificates()]);
      return { disks, certificates: states };
    },
  };
}

/** Every sink has series before its first dead letter. */
function withEmpty(counts: readonly LetterCounts[], sinks: readonly RunningSink[]): readonly LetterCounts[] {
  const keepers = new Set(sinks.map(keeperOf));
  const known = new Set(counts.map(({ sink }) => sink));
  const empty = { ...noWork, reasons: noLetters, kept: noLetters, oldest: undefined };
  return [...counts, ...[...keepers].filter((sink) => !known.has(sink)).map((sink) => ({ sink, ...empty }))];
}

const noWork = { waiting: 0, replaying: 0, bytes: 0, deleted: 0 } as const;

/** Those of the source and of what is nested in it. */
function refusalsOf(source: RunningSource): readonly RefusalCause[] {
  const parts = partsOf({ sources: [source], channels: [], sinks: [] });
  return parts.flatMap(({ definition }) => definition.refusals ?? []);
}
