import { type AgentSetup, agentCase, type BenchCase, bareSocket } from "./case.js";
import type { Survey } from "./survey.js";

const packaged = { database: "postgresql", channel: "memory", batchSize: 1, entities: 100 } as const;

/** Both channels with recorded requests, beside the bare socket that gets the same ones. */
export function recordedCases(survey: Survey): readonly BenchCase[] {
  return [
    bareSocketOfSurvey(survey),
    ...(["memory", "file"] as const).map((channel) => agentOfSurvey(survey, channel)),
  ];
}

export function bareSocketOfSurvey({ name, bodies }: Survey): BenchCase {
  return { ...bareSocket, name: `bare node:net with JSON.parse, nothing stored, recorded ${name}`, bodies };
}

export function agentOfSurvey({ name, bodies }: Survey, channel: AgentSetup["channel"]): BenchCase {
  const made = agentCase({ ...packaged, channel });
  return { ...made, name: `${made.name.replace("100 tables", "tables of the requests")}, recorded ${name}`, bodies };
}
