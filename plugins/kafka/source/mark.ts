import { createHash } from "node:crypto";

/** The latest of the cuts of a partition that are kept. */
const MOST_CUTS = 20;

/** Which logs a partition has had: after the brokers have lost records that were read, it goes on as another one. */
export interface Mark {
  /** For each such loss, in order, the epoch of the leader whose log was read before: records of later ones are of the next log. */
  readonly cuts: readonly number[];
}

/** Behind one more loss. */
export function cutBehind(mark: Mark, epoch: number): readonly number[] {
  return unitedCuts(mark, { cuts: [epoch] });
}

/** The cuts that one or the other knows. */
export function unitedCuts(one: Mark, other: Mark): readonly number[] {
  return [...new Set([...one.cuts, ...other.cuts])].sort((a, b) => a - b).slice(-MOST_CUTS);
}

interface NotedTopic {
  readonly id: string;
  readonly clusterId: string;
}

/** What is noted with an offset: a topic that is made again has another id, and so has the one that offsets are copied to in another cluster. */
export function noteOf({ id, clusterId }: NotedTopic, { cuts }: Mark): string {
  return `${id}/${cuts.join(".")}/${clusterId}`;
}

/** A note that a source has made in this cluster; empty for what other programs note, and for what they have copied from another cluster. */
export function ownNote(note: string, clusterId: string): string {
  const [, madeIn] = /^[\da-f-]{36}(?:\/[\d.]*(?:\/(.*))?)?$/.exec(note) ?? [undefined, ""];
  return madeIn === undefined || madeIn === clusterId ? note : "";
}

/** The mark in a note; undefined in one of another topic. Tools that move the offsets of a group leave no note. */
export function markOf(note: string, topicId: string): Mark | undefined {
  const [id, cuts = ""] = note.split("/");
  if (id !== topicId && note !== "") return undefined;
  return { cuts: (cuts.match(/\d+/g) ?? []).map(Number) };
}

/** Names what one group reads of the log of a partition that a record is in: another group reads it again. */
export function partName(
  topicId: string,
  partition: number,
  { group, cuts, epoch }: Mark & { readonly group: string; readonly epoch: number },
): string {
  const name = `${topicId}/${partition}/${createHash("sha256").update(group).digest("hex").slice(0, 8)}`;
  const cut = cuts.findLast((before) => before < epoch);
  return cut === undefined ? name : `${name}/${cut}`;
}
