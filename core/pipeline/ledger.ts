import { rename } from "node:fs/promises";
import { NEWER_FORMAT } from "../files/format-version.js";
import { FailureLog } from "../sdk/failure-log.js";
import { codeOf, type Logger, reasonOf } from "../sdk/index.js";
import { ChannelAccount } from "./channel-account.js";
import {
  type AccountState,
  readAccounts,
  type StoreBase,
  unreadableLedger,
  waitingIn,
  writeAccounts,
} from "./ledger-file.js";

/** Milliseconds between two writes of a ledger that changes all the time. */
const savePause = 1000;

/**
 * The books of an agent: what every channel accepted and how it ended, kept in a file. The accounts of durable channels
 * go on where they stood when the agent starts again; the others start at zero, as their channels do.
 */
export class Ledger {
  readonly #file: string;
  readonly #log: Logger;
  readonly #failures: FailureLog;
  readonly #accounts = new Map<string, ChannelAccount>();
  /** New books begin with nothing in the stores. */
  #newBase: StoreBase = { events: 0, stored: 0, loose: false };
  #saved: ReadonlyMap<string, AccountState> = new Map();
  /** The channels whose books go on. */
  readonly #resumed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** True when the process that wrote the books had stopped in order: what waited then is known. */
  #isExact = false;
  #changed = false;
  /** True when the file is of a later version: it is not written over. */
  #isRefused = false;
  /** True until a file that could not be read is out of the way. */
  #isUnreadable = false;
  #writing = Promise.resolve();

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
    this.#failures = new FailureLog(log, "ledger is written again");
  }

  /** The books of a channel, the same ones whenever it is asked for. */
  account(channel: string): ChannelAccount {
    const known = this.#accounts.get(channel);
    if (known !== undefined) return known;
    const account = new ChannelAccount(channel, () => this.#soon(), this.#newBase);
    this.#accounts.set(channel, account);
    return account;
  }

  /**
   * Reads the accounts of the run before; a file that cannot be read is reported and kept under another name, and the ledger
   * starts at zero. One of a later version throws.
   */
  async start(): Promise<void> {
    try {
      const accounts = await readAccounts(this.#file);
      const { channels, closed } = accounts ?? { channels: new Map(), closed: true };
      this.#isExact = closed;
      this.#saved = closed ? channels : new Map([...channels].map(([name, state]) => [name, loosened(state)]));
      this.#newBase = { ...this.#newBase, loose: !closed };
      for (const account of this.#accounts.values()) account.base = this.#newBase;
    } catch (error) {
      this.#isRefused = codeOf(error) === NEWER_FORMAT;
      if (this.#isRefused) throw error;
      this.#isUnreadable = true;
      const fields = { file: this.#file, reason: reasonOf(error), kept: unreadableLedger(this.#file) };
      this.#log.error(fields, "ledger cannot be read and starts again");
    }
  }

  /** Goes on with the account of a durable channel, before the channel starts. */
  resume(channel: string): void {
    this.#resumed.add(channel);
    const saved = this.#saved.get(channel);
    if (saved === undefined || this.#accounts.get(channel)?.opened) return;
    const account = this.account(channel);
    account.restore(saved);
    if (this.#isExact) account.whenMissing((events) => this.#log.error({ channel, events, remedy: MIXED }, MISSING));
  }

  /** The log that keeps the events of a channel is open; what waits in another one that kept them before, nobody stores. */
  keptIn(channel: string, log: string): void {
    const before = this.account(channel).keptIn(log);
    if (before !== undefined) this.#log.error({ channel, log, before, remedy: FORMER }, ANOTHER);
  }

  /** What waits by the books of channels that do not go on: the agent has them no longer, or not as durable ones. */
  left(): readonly { readonly channel: string; readonly events: number }[] {
    return [...this.#saved]
      .map(([channel, state]) => ({ channel, events: waitingIn(state) + (state.left ?? 0) }))
      .filter(({ channel, events }) => events > 0 && !this.#resumed.has(channel));
  }

  /** Writes that a process is at work, once it has the channels: what it stores from now on may be missing in the file. */
  async begin(): Promise<void> {
    this.#changed = true;
    await this.#save();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#changed = true;
    await this.#save(true);
  }

  #soon(): void {
    this.#changed = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#save();
    }, savePause).unref();
  }

  async #save(closed = false): Promise<void> {
    const write = async () => {
      if (!this.#changed || this.#isRefused) return;
      this.#changed = false;
      try {
        // Where that fails, it is written over.
        if (this.#isUnreadable) await rename(this.#file, unreadableLedger(this.#file)).catch(() => undefined);
        this.#isUnreadable = false;
        await writeAccounts(this.#file, { channels: this.#states(), closed });
        this.#failures.works({ file: this.#file });
      } catch (error) {
        this.#failures.failed("error", error, { message: "ledger not written", fields: { file: this.#file } });
        if (!closed) this.#soon();
      }
    };
    this.#writing = this.#writing.then(write);
    await this.#writing;
  }

  /** Channels that did not start, or are not in the configuration now, keep the books they had. */
  #states(): ReadonlyMap<string, AccountState> {
    const opened = [...this.#accounts].filter(([, account]) => account.opened);
    return new Map([...this.#saved, ...opened.map(([name, account]) => [name, account.state] as const)]);
  }
}

const MISSING = "events are missing: the channel holds fewer than at its last stop";
const MIXED =
  "its folders, or ledger.json, were removed, replaced, or are of different backups, or dataDirs was changed; put back what is of one time";

const ANOTHER =
  "the log of the channel is another one than when it was open last: what waits in the former one is not stored, and its positions do not count";
const FORMER =
  "unless it was meant to be: see whether the volume of the engine is mounted, and who removed the topic or stream; stop all agents, put the " +
  "former log back, and start them";

/** Events may have been stored after the books were written. */
function loosened(state: AccountState): AccountState {
  const { base } = state;
  return base === undefined ? state : { ...state, base: { ...base, loose: true } };
}
