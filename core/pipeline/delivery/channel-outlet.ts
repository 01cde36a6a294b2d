import type { ChannelAccount } from "../channel-account.js";
import type { CountedChannel } from "../counted-channel.js";
import { PositionGate, type PositionSkipping } from "./position-gate.js";
import { Settlements } from "./settlements.js";
import type { ChannelRoom } from "./worth-waiting-for.js";

interface OutletParts {
  readonly account?: Pick<ChannelAccount, "skipped" | "leftOut">;
  /** The name of the channel and the type of its plugin, for messages. */
  readonly title?: string;
  /** How much one service may hold in the channel; absent: nobody says. */
  readonly room?: ChannelRoom;
}

/** The dead letters of all agents, as far as this one has followed them. */
interface KnownLetters {
  /** Whether an event of the channel, by what its positions call it, has a letter of some agent. */
  has(idInChannel: string): boolean;
  /**
   * Resolves when it has followed what was written until that many milliseconds ago, a second when absent, or cannot; rejects when the signal
   * aborts before that.
   */
  upToDate(signal: AbortSignal, milliseconds?: number): Promise<void>;
  /** This agent has stored events of the channel, by what its positions call them: a letter that some agent writes of one is stored, too. */
  stored(idsInChannel: readonly string[]): void;
}

/** The end of a channel from which sinks take: what all that take from it share, also those that come later. */
export class ChannelOutlet implements PositionSkipping {
  readonly channel: CountedChannel;
  /** What became of events that are still in the channel. */
  readonly settlements = new Settlements();
  /** Opens the way to the first take when every sink has told what it has stored already. */
  readonly gate: PositionGate;
  /** Those that take from the channel now. */
  readonly feeds = new Set<object>();
  readonly title: string | undefined;
  readonly room: ChannelRoom;
  /** The dead letters that agents share; undefined behind a channel of one agent, and before they are followed. */
  letters: KnownLetters | undefined;
  readonly #account: Pick<ChannelAccount, "skipped" | "leftOut"> | undefined;

  constructor(channel: CountedChannel, { account, title, room = {} }: OutletParts = {}) {
    this.channel = channel;
    this.room = room;
    this.title = title;
    this.#account = account;
    this.gate = new PositionGate(this);
  }

  /**
   * What is left out was settled by the process before, which could not write it into the ledger any more; in a channel that
   * agents share, by any of them.
   */
  async skipTo(position: string): Promise<void> {
    const skipped = await this.channel.skipTo(position);
    if (skipped > 0 && this.channel.isExact) this.#account?.skipped(skipped);
  }

  /** Leaves out events of which there are dead letters. */
  async leaveOut(letters: AsyncIterable<string>): Promise<void> {
    const left = await this.channel.leaveOut(letters);
    if (left > 0 && this.channel.isExact) this.#account?.leftOut(left);
  }
}
