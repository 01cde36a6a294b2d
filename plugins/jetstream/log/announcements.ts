import type { LogPart } from "deneb/log";
import type { Link } from "./link.js";
import type { Subjects } from "./subjects.js";

/** Records of so long a time are announced together: each announcement alone would cost a write to the socket. */
const TOGETHER_MILLIS = 2;

/** Tells other agents of new records: of each part the newest one. Those who do not hear it ask a little later. */
export class Announcements {
  readonly #link: Link;
  readonly #subjects: Subjects;
  readonly #newest = new Map<LogPart, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(link: Link, subjects: Subjects) {
    this.#link = link;
    this.#subjects = subjects;
  }

  add(part: LogPart, offset: number): void {
    this.#newest.set(part, offset);
    this.#timer ??= setTimeout(() => this.flush(), TOGETHER_MILLIS);
  }

  /** Says what was not said yet, while there is a connection. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [part, offset] of this.#newest) this.#link.say(this.#subjects.announcing(part), String(offset));
    this.#newest.clear();
  }
}
