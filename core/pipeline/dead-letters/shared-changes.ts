import { isMark, type LetterRecord, type SharedPlace } from "./dead-letter.js";
import type { LetterEntry, Sharing } from "./letter-table.js";

/** How the letters of a sink become those of several agents. */
export interface LetterSharing extends Sharing {
  /** Resolves when the changes are in the log and taken over here: to the offset of each; undefined for one that does not count. */
  publish(changes: readonly LetterChange[]): Promise<readonly (number | undefined)[]>;
  /** The same for new letters, rejecting when the signal aborts first; resolves to those that are too large to be shared. */
  publishLetters(changes: readonly LetterChange[], signal?: AbortSignal): Promise<readonly LetterChange[]>;
}

/** A change of the letters of one sink that all agents make, in the order of their log. */
export interface LetterChange {
  readonly sink: string;
  readonly record: LetterRecord;
  /**
   * A mark counts only while the letter stands at the record of this offset, undefined for one that is not shared: of two
   * agents that change one letter at once the first one does. That a letter is stored always counts.
   */
  readonly after?: number | undefined;
  /**
   * True for a letter that is stored unless it has changed behind `after`: another agent is done with its event, and what it could not
   * store has become a newer record of the letter.
   */
  readonly unlessChanged?: boolean | undefined;
}

/** A change with its place. */
export interface PlacedChange extends LetterChange {
  readonly place: SharedPlace;
  /** True when this process made it. */
  readonly own: boolean;
}

/** What the changes make of the letters of a sink. */
interface AppliedChanges {
  /** What is to be written into the file. */
  readonly records: readonly { readonly record: LetterRecord; readonly own: boolean }[];
  /** For each change whether it counts, or did so before. */
  readonly counted: readonly boolean[];
}

/** What the next change of a letter needs to know. */
type Standing = Pick<LetterEntry, "offset" | "mark" | "replays" | "storedFrom">;

/** Takes changes over in their order: the same result in all agents. Those that were taken over before change nothing. */
export function appliedChanges(
  changes: readonly PlacedChange[],
  entryOf: (id: string) => Standing | undefined,
): AppliedChanges {
  const standing = new Map<string, Standing>();
  const records: { readonly record: LetterRecord; readonly own: boolean }[] = [];
  const counted = changes.map((change) => {
    const { record, place, own } = change;
    const before = standing.get(record.id) ?? entryOf(record.id);
    if (before?.offset !== undefined && before.offset >= place.offset) return before.offset === place.offset;
    const next = nextStanding(change, before);
    if (next === undefined) return false;
    standing.set(record.id, next);
    records.push({ record: { ...record, ...standingIn(record, next), shared: place }, own });
    return true;
  });
  return { records, counted };
}

/** What a record says of where its letter stands. */
function standingIn(record: LetterRecord, { replays, storedFrom }: Standing): object {
  if (isMark(record)) return { sentAt: storedFrom };
  return { ...(replays === 0 ? {} : { replays }), ...(storedFrom === undefined ? {} : { storedFrom }) };
}

/** Whether a mark counts for a letter that stands at this offset. */
export function isUnderstood({ record, after, unlessChanged }: LetterChange, standsAt: number | undefined): boolean {
  return isMark(record) && ((record.mark === "stored" && unlessChanged !== true) || standsAt === after);
}

/** Undefined when the change does not count. */
function nextStanding(change: PlacedChange, before: Standing | undefined): Standing | undefined {
  const { record, place } = change;
  const { offset } = place;
  if (isMark(record)) {
    if (before === undefined && (record.mark !== "stored" || change.unlessChanged === true)) return undefined;
    if (!isUnderstood(change, before?.offset)) return undefined;
    // Of several marks the first one says which event is stored, also where the letter was kept once more by an agent that did not know it.
    const storedFrom = before?.storedFrom ?? record.sentAt;
    return { offset, mark: record.mark, replays: before?.replays ?? 0, storedFrom };
  }
  const again = before?.mark === "replaying" ? before.replays + 1 : 0;
  return { offset, mark: "waiting", replays: Math.max(record.replays ?? 0, again), storedFrom: before?.storedFrom };
}
