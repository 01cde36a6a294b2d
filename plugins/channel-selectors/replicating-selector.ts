import { AgentError, type ChannelSelector, type SelectorContext } from "deneb/sdk";
import type { ReplicatingConfig } from "./config.js";

export function createReplicatingSelector(config: ReplicatingConfig, context: SelectorContext): ChannelSelector {
  const { name, channels } = context;
  for (const channel of config.optional) {
    if (!channels.includes(channel)) throw unknownChannel(name, channel, channels);
  }
  const isOptional = new Set(config.optional);
  const selection = {
    required: channels.filter((channel) => !isOptional.has(channel)),
    optional: channels.filter((channel) => isOptional.has(channel)),
  };
  return { select: () => selection };
}

function unknownChannel(selector: string, channel: string, channels: readonly string[]): AgentError {
  const known = channels.map((each) => `"${each}"`).join(", ");
  return new AgentError(
    "UNKNOWN_CHANNEL",
    `making selector "${selector}": property "optional" names "${channel}", which is not a channel of the source (${known})`,
  );
}
