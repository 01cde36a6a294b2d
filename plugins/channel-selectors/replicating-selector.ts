import type { ChannelSelector, SelectorContext } from "deneb/sdk";
import type { ReplicatingConfig } from "./config.js";

export function createReplicatingSelector(config: ReplicatingConfig, { channels }: SelectorContext): ChannelSelector {
  const isOptional = new Set(config.optional);
  const selection = {
    required: channels.filter((channel) => !isOptional.has(channel)),
    optional: channels.filter((channel) => isOptional.has(channel)),
  };
  return { select: () => selection };
}
