import type { Member } from "./member.js";

/** Milliseconds between two looks at whether workers report, which they do twice as often. */
export const LOOK = 1000;
/** Looks without a report after which a worker is silent: its process is frozen, or busy with one thing. */
const SILENT = 10;
/** Looks without a report after which it is killed. */
const LONGEST = 60;
/** The same at a stop, where the grace period is shorter. */
const SHORTEST_AT_STOP = 5;

type Looked = Pick<Member, "state" | "process" | "looks" | "isKilled">;

/**
 * Counts a look, and says what it has shown. No time is measured: when the supervisor is frozen with its workers nobody is silent.
 * One that starts, and may read large files meanwhile, has no limit.
 */
export function looked(member: Looked, gracePeriodSeconds: number): "silent" | "too-long" | undefined {
  const { process, state, isKilled } = member;
  if (process === undefined || isKilled) return undefined;
  member.looks += 1;
  if (state === "starting") return undefined;
  const atStop = Math.max(SHORTEST_AT_STOP, Math.ceil((gracePeriodSeconds * 1000) / LOOK));
  if (member.looks >= (state === "stopping" ? atStop : LONGEST)) return "too-long";
  return state === "running" && member.looks >= SILENT ? "silent" : undefined;
}
