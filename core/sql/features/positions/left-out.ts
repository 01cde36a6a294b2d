import type { Batch, Event, Logger } from "../../../sdk/index.js";
import { RecentMap } from "../../contract/recent-map.js";
import type { PlacedRows } from "../../rows/grouping.js";
import { hasPassed } from "../../tables/known-store.js";
import { channelOf } from "./commit-units.js";
import { describedRun } from "./position-errors.js";
import type { CoveredRows } from "./shared-positions.js";

const PAUSE_MILLIS = 10_000;
const MOST_CHANNELS = 10_000;

interface LeftOutOf {
  /** The run of this agent. */
  readonly run: string;
  readonly log: Logger;
  now(): Date;
}

/** The events of shared positions that this agent leaves out because another one has stored them: remembered, and logged. */
export class LeftOut {
  readonly #of: LeftOutOf;
  readonly #elsewhere = new WeakSet<Event>();
  /** Events whose write may have been committed although it failed. */
  readonly #doubtful = new WeakSet<Event>();
  readonly #told = new RecentMap<Told>(MOST_CHANNELS);

  constructor(of: LeftOutOf) {
    this.#of = of;
  }

  /** The write failed, and its outcome is not known. */
  doubt({ position, events }: Batch): void {
    if (position?.shared === true) for (const event of events) this.#doubtful.add(event);
  }

  /** `stored` are the rows that a position covers, `open` those that are to be written. */
  note({ position }: Batch, stored: readonly CoveredRows[], open: readonly PlacedRows[]): void {
    if (position?.shared !== true || stored.length === 0) return;
    const toWrite = new Set(open.flatMap(({ placed }) => placed.map(({ event }) => event)));
    const found = new Set<Event>();
    let movedBy: string | undefined;
    for (const { placed, movedBy: run } of stored) {
      for (const { event } of placed) {
        // Stored by this agent: only the answer to its commit was lost. Of a replayed dead letter it is not said who stored it.
        const isOwn = (run ?? this.#of.run) === this.#of.run && this.#doubtful.has(event);
        if (isOwn || toWrite.has(event) || this.#elsewhere.has(event)) continue;
        found.add(event);
        movedBy = run;
      }
    }
    for (const event of found) this.#elsewhere.add(event);
    if (found.size > 0) this.#tell(channelOf(position.text), found.size, movedBy);
  }

  /** The events of the batch that another agent has stored; empty for none. */
  of({ position, events }: Batch): readonly Event[] {
    return position?.shared === true ? events.filter((event) => this.#elsewhere.has(event)) : [];
  }

  /** One line for each channel and agent, and with those that come soon after it one more. */
  #tell(channel: string, events: number, movedBy: string | undefined): void {
    const { log } = this.#of;
    const told = this.#told.get(channel);
    const at = this.#of.now().getTime();
    const isSoon = told !== undefined && told.movedBy === movedBy && !hasPassed(PAUSE_MILLIS, told.at, at);
    if (isSoon) {
      this.#told.set(channel, { ...told, untold: told.untold + events });
      return;
    }
    const fields = { events: events + (told?.untold ?? 0), channel, movedBy: describedRun(movedBy) };
    log.info(fields, "events that another agent has stored are left out");
    this.#told.set(channel, { at, movedBy, untold: 0 });
  }
}

interface Told {
  readonly at: number;
  readonly movedBy: string | undefined;
  readonly untold: number;
}
