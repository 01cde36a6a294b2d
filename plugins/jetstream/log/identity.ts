import type { AgentError } from "deneb/sdk";
import { logSettings, logUnavailable } from "./errors.js";
import type { Link } from "./link.js";
import { idOf, type StreamState, streamState } from "./stream.js";

const CHECK_MILLIS = 1000;
/** A leader that a cluster has just elected may not know yet what it has to hold: how often request_timeout it gets. */
const TIME_LIMIT = 6;

/**
 * Whether the stream is still the one that was opened. One of the same name that is made later takes records, too, and
 * would give them offsets that are stored already.
 */
export class Identity {
  readonly #link: Link;
  readonly #stream: string;
  readonly #id: string;
  readonly #timeLimit: number;
  readonly #told: (state: StreamState) => void;
  #newest: number;
  /** Since when the stream has not all that was there. */
  #behindSince: number | undefined;
  #checked = performance.now();
  #checking: Promise<void> | undefined;
  #lost: AgentError | undefined;
  #certain = true;

  constructor(of: {
    readonly link: Link;
    readonly stream: string;
    readonly id: string;
    readonly newest: number;
    /** Milliseconds: request_timeout. */
    readonly timeout: number;
    /** Called with what the server says of the stream, as often as it is asked. */
    readonly told: (state: StreamState) => void;
  }) {
    this.#timeLimit = TIME_LIMIT * of.timeout;
    this.#link = of.link;
    this.#stream = of.stream;
    this.#id = of.id;
    this.#newest = of.newest;
    this.#told = of.told;
  }

  /** The largest sequence that was seen. */
  get newest(): number {
    return this.#newest;
  }

  saw(sequence: number): void {
    if (sequence > this.#newest) this.#newest = sequence;
  }

  /** Throws once the stream is known to be another one. Asks the server now and then, without waiting for it. */
  assure(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (performance.now() - this.#checked < CHECK_MILLIS) return;
    this.check().catch(() => undefined);
  }

  /** A connection was made: it may lead to another server, with a stream of its own. */
  uncertain(): void {
    this.#certain = false;
  }

  /** Connects when that is needed, and waits until the stream is known to be the same there. */
  async assured(doing: string, within?: number): Promise<void> {
    this.assure();
    await this.#link.connection(doing, within);
    if (!this.#certain) await this.check(within);
  }

  /** Asks the server now. Rejects with code `LOG_SETTINGS` when the stream is another one or gone. */
  async check(within?: number): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#checking ??= this.#ask(within).finally(() => {
      this.#checking = undefined;
      this.#checked = performance.now();
    });
    await this.#checking;
  }

  /** The stream gave a sequence that it had given before. */
  refuse(sequence: number, before: number): never {
    const reason = "it was deleted and made again, or restored, or a server lost what it had acknowledged";
    this.#lose(`it gave the sequence ${sequence} after ${before}: ${reason}`);
  }

  async #ask(within: number | undefined): Promise<void> {
    const newest = this.#newest;
    this.#certain = true;
    const found = await streamState(this.#link, this.#stream, { within }).catch((error: unknown) => {
      this.#certain = false;
      throw error;
    });
    if (found === undefined) this.#lose("it was deleted while this agent used it");
    if (idOf(this.#stream, found) !== this.#id) this.#lose("it was deleted and made again while this agent used it");
    this.#told(found);
    this.#compare(found.state.last_seq, newest);
  }

  #compare(last: number, newest: number): void {
    if (last >= newest) {
      this.#behindSince = undefined;
      return;
    }
    this.#certain = false;
    const now = performance.now();
    this.#behindSince ??= now;
    const reason = `its last sequence is ${last}, and ${newest} was there before`;
    if (now - this.#behindSince > this.#timeLimit) this.#lose(`${reason}: it lost events`);
    throw logUnavailable(`using the stream "${this.#stream}"`, `${reason}: its leader is not up to date yet`);
  }

  #lose(reason: string): never {
    const remedy = "restart the agents";
    this.#lost = logSettings(`using the stream "${this.#stream}"`, `${reason}; ${remedy}`);
    throw this.#lost;
  }
}
