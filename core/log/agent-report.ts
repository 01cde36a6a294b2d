import { isRecord, parsedJson } from "../sdk/event.js";
import { isUpTo, type LogPosition, placeOf, placeText } from "./log-position.js";

/** What an agent tells the others of one part that it works on. */
export interface PartReport {
  readonly done: LogPosition;
  /** Events that were read and are not done. */
  readonly waiting: number;
  /** True while events may be behind those that were read. */
  readonly more: boolean;
  /** When the oldest event that is not done was put; undefined when there is none. */
  readonly oldest: number | undefined;
  /** The offset before which all was read; undefined for an earlier agent, which does not tell. */
  readonly next: number | undefined;
}

/** What an agent tells the others every few seconds. */
export interface AgentReport {
  /** Names this channel of this process and no other. */
  readonly member: string;
  readonly run: string;
  /** Names the channel of the agent over restarts: a new run takes the place of the one before. */
  readonly agent: string;
  readonly group: string;
  /** The log that its places are of; undefined for an earlier agent, which does not tell: nobody hears it. */
  readonly log: string | undefined;
  /** By the clock of the agent. */
  readonly at: number;
  /** True when sinks take from it: then it gets a share of the parts. */
  readonly takes: boolean;
  /** True while a sink of it does not get on: then others get its parts. */
  readonly stuck: boolean;
  /** True in the last report of an agent that stops. */
  readonly left: boolean;
  readonly parts: ReadonlyMap<number, PartReport>;
  /** Up to where every part is done that was heard of, by group and part, so that no report need be kept. */
  readonly heard: ReadonlyMap<string, ReadonlyMap<number, LogPosition>>;
}

const VERSION = 1;

/** When the process of a run began, by its clock, which stands in the name of the run; undefined for another name. */
export function beganAt(run: string): number | undefined {
  const at = Date.parse(run.split(",")[2] ?? "");
  return Number.isNaN(at) ? undefined : at;
}

export function reportText({ parts, heard, ...report }: AgentReport): string {
  const isTold = (group: string, part: number, place: LogPosition) => {
    const own = group === report.group ? parts.get(part) : undefined;
    return own !== undefined && isUpTo(place, own.done);
  };
  return JSON.stringify({
    deneb: VERSION,
    ...report,
    parts: [...parts].map(([part, { done, waiting, more, oldest, next }]) => {
      return [part, placeText(done), waiting, more, oldest, next];
    }),
    heard: [...heard].map(([group, places]) => [
      group,
      [...places]
        .filter(([part, place]) => !isTold(group, part, place))
        .map(([part, place]) => [part, placeText(place)]),
    ]),
  });
}

/** Undefined for what no agent of this version wrote. */
export function reportOf(text: string): AgentReport | undefined {
  const value = parsedJson(text);
  if (!isRecord(value) || value["deneb"] !== VERSION) return undefined;
  const { member, run, agent, group, log, at, takes, stuck, left, parts, heard } = value;
  if (typeof member !== "string" || typeof run !== "string" || typeof agent !== "string" || typeof group !== "string")
    return undefined;
  return {
    member,
    run,
    agent,
    group,
    log: typeof log === "string" ? log : undefined,
    at: typeof at === "number" ? at : 0,
    takes: takes === true,
    stuck: stuck === true,
    left: left === true,
    parts: new Map(listOf(parts).flatMap((part) => partReport(part))),
    heard: new Map(listOf(heard).flatMap((one) => heardOf(one))),
  };
}

function partReport(value: unknown): readonly (readonly [number, PartReport])[] {
  const [part, place, waiting, more, oldest, next] = listOf(value);
  const done = typeof place === "string" ? placeOf(place) : undefined;
  if (typeof part !== "number" || done === undefined || typeof waiting !== "number") return [];
  return [[part, { done, waiting, more: more === true, oldest: numberOf(oldest), next: numberOf(next) }]];
}

function heardOf(value: unknown): readonly (readonly [string, ReadonlyMap<number, LogPosition>])[] {
  const [group, places] = listOf(value);
  if (typeof group !== "string") return [];
  const known = listOf(places).flatMap((entry) => {
    const [part, text] = listOf(entry);
    const place = typeof text === "string" ? placeOf(text) : undefined;
    return typeof part === "number" && place !== undefined ? [[part, place] as const] : [];
  });
  return [[group, new Map(known)]];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
