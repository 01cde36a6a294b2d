import { type AgentSetup, agentCase, type BenchCase } from "./case.js";
import type { OriginalOrder } from "./original.js";
import { agentOfSurvey } from "./recorded-cases.js";
import type { Survey } from "./survey.js";

/** The original in its packaged setup and at its best, each by its stored/s or by a command. */
export interface OriginalSystems {
  /** batch_size 1, memory channel. */
  readonly packaged?: number | OriginalOrder;
  /** batch_size 100, one table. */
  readonly best?: number | OriginalOrder;
}

const setups = {
  packaged: { database: "postgresql", channel: "memory", batchSize: 1, entities: 100 },
  best: { database: "postgresql", channel: "memory", batchSize: 100, entities: 1 },
} as const satisfies Record<keyof OriginalSystems, AgentSetup>;

/** The case of the agent that the original is compared with. */
export const comparedWith = (setup: keyof OriginalSystems): AgentSetup => setups[setup];

/** The name of the case of the original. */
export const originalName = (setup: keyof OriginalSystems): string => `original by its command, ${setup}`;

/** What is measured because of commands: the original and the agent with the same bodies, one behind the other. */
export function originalCases(systems: OriginalSystems, surveys: readonly Survey[]): readonly BenchCase[] {
  return (["packaged", "best"] as const).flatMap((setup): readonly BenchCase[] => {
    const original = systems[setup];
    if (original === undefined || typeof original === "number") return [];
    const agent = agentCase(setups[setup]);
    const named = { ...agent, name: originalName(setup), system: "original", original } as const;
    const recorded = setup === "packaged" ? surveys : [];
    return [
      agent,
      named,
      ...recorded.map((survey): BenchCase => {
        const { bodies } = agentOfSurvey(survey, "memory");
        return { ...named, name: `${named.name}, recorded ${survey.name}`, bodies };
      }),
    ];
  });
}
