import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import { objectIn, objectsIn, textIn } from "../json.js";
import { all, earliest, every, type Join, latest, listBy, members, worst } from "./joins.js";

/** What the statistics and the live document have in common: states, the books of a channel, the log of a shared one. */

export const worstHealth = worst(["down", "degraded", "up"]);

/** A component that does not run in one worker is what one has to know. */
const worstStatus = worst(["ERROR", "STOP", "IDLE", "START"]);

export const componentJoins: Readonly<Record<string, Join>> = {
  status: worstStatus,
  setup_time: earliest,
  health: worstHealth,
  findings: all,
};

/** Findings with the worker that has them, so that they can be told apart in a list of all. */
export function findingsOf(worker: number, findings: readonly JsonObject[]): readonly JsonObject[] {
  return findings.map((one) => ({ ...one, reason: `worker ${worker}: ${textIn(one["reason"])}` }));
}

/** The log of a channel that agents share: each worker describes the whole. What is of any worker is of this agent. */
export const sharedLog: Join = (logs) => {
  const [log] = logs;
  const mine = members({ mine: (values) => values.includes(true) }, ([value]) => value);
  const own = (member: string, key: string) => {
    const known = objectsIn(objectIn(log)[member]).map((one) => one[key]);
    const joined = objectsIn(listBy([key], mine)(logs.map((one) => objectIn(one)[member] ?? [])));
    return joined.filter((one) => known.includes(one[key]));
  };
  return { ...objectIn(log), agents: own("agents", "run"), partitions: own("partitions", "partition") };
};

/** The last reload: of several the one that failed, else the latest. */
export const lastReload: Join = (reloads) => {
  const failed = reloads.find((one) => objectIn(one)["ok"] === false);
  const last = reloads
    .toSorted((one, other) => String(objectIn(one)["time"]).localeCompare(String(objectIn(other)["time"])))
    .at(-1);
  return { ...objectIn(failed ?? last), ...members({ time: latest, ok: every })(reloads.map(timeAndOk)) };
};

function timeAndOk(reload: Json): JsonObject {
  const { time, ok } = objectIn(reload);
  return { time, ok };
}

/** Dead letters of one sink. Those that agents share are the same in each. */
export const deadLetters: Join = (letters) => {
  const shared = letters.filter((one) => objectIn(one)["shared"] === true);
  return members({ oldest: earliest, sink: ([sink]) => sink })(shared.length > 0 ? shared.slice(0, 1) : letters);
};
