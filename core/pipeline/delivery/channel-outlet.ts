import type { CountedChannel } from "../counted-channel.js";
import type { ChannelAccount } from "../ledger.js";
import { PositionGate, type PositionSkipping } from "./position-gate.js";
import { Settlements } from "./settlements.js";

/** The end of a channel from which sinks take: what all that take from it share, also those that come later. */
export class ChannelOutlet implements PositionSkipping {
  readonly channel: CountedChannel;
  /** What became of events that are still in the channel. */
  readonly settlements = new Settlements();
  /** Opens the way to the first take when every sink has told what it has stored already. */
  readonly gate: PositionGate;
  readonly #account: Pick<ChannelAccount, "skipped"> | undefined;

  constructor(channel: CountedChannel, account?: Pick<ChannelAccount, "skipped">) {
    this.channel = channel;
    this.#account = account;
    this.gate = new PositionGate(this);
  }

  /** What is left out was settled by the process before, which could not write it into the ledger any more. */
  async skipTo(position: string): Promise<void> {
    this.#count(await this.channel.skipTo(position));
  }

  /** Leaves out events of which there are dead letters. */
  async leaveOut(letters: AsyncIterable<string>): Promise<void> {
    this.#count(await this.channel.leaveOut(letters));
  }

  #count(skipped: number): void {
    if (skipped > 0) this.#account?.skipped(skipped);
  }
}
