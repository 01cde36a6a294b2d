import type { Channel } from "../../sdk/index.js";
import type { ChannelLimits } from "../channel-fixture.js";
import type { ConformanceCase } from "../plugin-setup.js";
import { sharingCases } from "./sharing.js";
import { transactionCases } from "./transactions.js";
import { waitingCases } from "./waiting.js";
import { wholeCases } from "./whole.js";

/** Makes and starts an empty channel with these limits. */
type OpenChannel = (limits: ChannelLimits) => Promise<Channel>;

const usual: ChannelLimits = { capacity: 10, transactionCapacity: 5, waitSeconds: 0 };

/** What every channel does, whatever it keeps its events in. */
export function channelConformance(openChannel: OpenChannel): readonly ConformanceCase[] {
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
