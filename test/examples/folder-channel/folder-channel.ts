import type { Channel, ChannelContext } from "deneb/sdk";
import { QueuePut, QueueTake } from "deneb/sdk/channel";
import type { FolderChannelConfig } from "./config.js";
import { FolderQueue } from "./folder-queue.js";

/** A durable channel: `deneb/sdk/channel` makes its transactions, the queue keeps its events. */
export function folderChannel(config: FolderChannelConfig, { name, lockFolder }: ChannelContext): Channel {
  const { folder, capacity, transactionCapacity } = config;
  const queue = new FolderQueue({ channel: name, capacity, waitSeconds: config["keep-alive"] }, folder, lockFolder);
  return {
    durable: true,
    redelivers: true,
    transactionCapacity,
    get size() {
      return queue.size;
    },
    openPut: (events = 0) => new QueuePut(queue, { channel: name, most: Math.max(events, transactionCapacity) }),
    openTake: () => new QueueTake(queue, { channel: name, most: transactionCapacity }),
    start: () => queue.open(),
    stop: () => queue.close(),
  };
}
