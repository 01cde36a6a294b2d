import type { Origin } from "./packed-record.js";

/** Up to where a part of a log is done for one group. */
export interface LogPosition {
  /** The offset of the last record of which something is done; -1 before the first. */
  readonly offset: number;
  /** The index of its last event that is done. */
  readonly index: number;
  /** How many events of the part are done, since it was made, and what became of them. */
  readonly events: number;
  readonly stored: number;
  readonly deadLettered: number;
  readonly filtered: number;
  /** For each part of a log that the events came from, the last of them. */
  readonly origins: ReadonlyMap<string, Pick<Origin, "offset" | "index">>;
}

/** Before the first event. */
export const atBeginning: LogPosition = {
  offset: -1,
  index: -1,
  events: 0,
  stored: 0,
  deadLettered: 0,
  filtered: 0,
  origins: new Map(),
};

/** What a position is of: a part of a log, read by a group. */
export interface PositionOwner {
  readonly log: string;
  readonly group: string;
}

/** The name of the channel in stored positions. */
export function channelName({ log, group }: PositionOwner, part: number): string {
  return `${log}/${group}/${part}`;
}

/** The text to be stored. */
export function positionText(owner: PositionOwner, part: number, position: LogPosition): string {
  return `${channelName(owner, part)}:${placeText(position)}`;
}

/** The position without the name of its channel. */
export function placeText({ offset, index, origins, ...books }: LogPosition): string {
  const { events, stored, deadLettered, filtered } = books;
  const from = [...origins].map(([of, last]) => `${of}=${last.offset}+${last.index}`).join(",");
  return `${offset}+${index}:${events},${stored},${deadLettered},${filtered}${from === "" ? "" : `:${from}`}`;
}

/** A position of this group in this log, and its part; undefined for a text of another one, or of no channel like this. */
export function positionOf(
  owner: PositionOwner,
  text: string,
): { readonly part: number; readonly position: LogPosition } | undefined {
  const prefix = `${owner.log}/${owner.group}/`;
  if (!text.startsWith(prefix)) return undefined;
  const [, part = "", place = ""] = /^(\d+):(.*)$/.exec(text.slice(prefix.length)) ?? [];
  const position = placeOf(place);
  return part === "" || position === undefined ? undefined : { part: Number(part), position };
}

/** The place of an event of which the id of a dead letter begins with its own id; undefined for one of another channel. */
export function letterPlace(
  owner: PositionOwner,
  id: string,
): { readonly part: number; readonly offset: number; readonly index: number } | undefined {
  const prefix = `${owner.log}/${owner.group}/`;
  const found = id.startsWith(prefix) ? /^(\d+):(\d+)\+(\d+)-/.exec(id.slice(prefix.length)) : null;
  return found === null ? undefined : { part: Number(found[1]), offset: Number(found[2]), index: Number(found[3]) };
}

/** Whether a dead letter with this id is one of another group over the same log. */
export function isLetterOfOthers({ log, group }: PositionOwner, id: string | undefined): boolean {
  return id?.startsWith(`${log}/`) === true && !id.startsWith(`${log}/${group}/`);
}

/** Undefined for a text that is no place. */
export function placeOf(text: string): LogPosition | undefined {
  const [whole, offset, index, books = "", from = ""] =
    /^(-?\d+)\+(-?\d+):(\d+,-?\d+,\d+,\d+)(?::(.+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const [events = 0, stored = 0, deadLettered = 0, filtered = 0] = books.split(",").map(Number);
  const origins = new Map<string, Pick<Origin, "offset" | "index">>();
  for (const one of from === "" ? [] : from.split(",")) {
    const [known, of = "", at, nth] = /^(.+)=(\d+)\+(\d+)$/.exec(one) ?? [];
    if (known === undefined) return undefined;
    origins.set(of, { offset: Number(at), index: Number(nth) });
  }
  return { offset: Number(offset), index: Number(index), events, stored, deadLettered, filtered, origins };
}

interface Place {
  readonly offset: number;
  readonly index: number;
}

/** True when the place is at or before the other one. */
export function isUpTo(place: Place, other: Place): boolean {
  return place.offset < other.offset || (place.offset === other.offset && place.index <= other.index);
}

/** The later one. */
export function later(one: LogPosition, other: LogPosition | undefined): LogPosition {
  return other === undefined || isUpTo(other, one) ? one : other;
}
