import type { Channel } from "../sdk/index.js";
import type { ChannelLimits } from "./channel-fixture.js";
import { sharingCases } from "./channel-sharing.js";
import { transactionCases } from "./channel-transactions.js";
import { waitingCases } from "./channel-waiting.js";
import { wholeCases } from "./channel-whole.js";

/** Makes and starts an empty channel with these limits. */
export type OpenChannel = (limits: ChannelLimits) => Promise<Channel>;

/** One thing that every channel does. */
export interface ChannelConformance {
  readonly name: string;
  run(): Promise<void>;
}

/** A case gets a way to open channels; each is stopped when the case ends. */
export interface ChannelCase {
  readonly name: string;
  run(open: (limits?: Partial<ChannelLimits>) => Promise<Channel>): Promise<void>;
}

const usual: ChannelLimits = { capacity: 10, transactionCapacity: 5, patience: 0 };

/** What every channel does, whatever it keeps its events in. */
export function channelConformance(openChannel: OpenChannel): readonly ChannelConformance[] {
  return [...transactionCases, ...waitingCases, ...sharingCases, ...wholeCases].map(({ name, run }) => ({
    name,
    async run() {
      const opened: Channel[] = [];
      try {
        await run(async (limits) => {
          const channel = await openChannel({ ...usual, ...limits });
          opened.push(channel);
          return channel;
        });
      } finally {
        for (const channel of opened) await channel.stop(AbortSignal.abort());
      }
    },
  }));
}
