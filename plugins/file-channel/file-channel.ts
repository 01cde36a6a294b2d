import path from "node:path";
import type { Channel, ChannelContext, PutTransaction, TakeTransaction } from "deneb/sdk";
import { QueuePut, QueueTake } from "deneb/sdk/channel";
import type { FileConfig, SpillableConfig } from "./config.js";
import { type OpenFile, openNewFile } from "./log/files.js";
import { LogQueue } from "./log-queue.js";

/** What `file` and `spillable` have in common, and how many events are in memory alone. */
export type LogConfig = Omit<FileConfig, "capacity"> & { readonly capacity: number; readonly memoryCapacity: number };

/** A channel over a log on disk. */
export class FileChannel implements Channel {
  readonly durable = true;
  readonly transactionCapacity: number;
  readonly #name: string;
  readonly #queue: LogQueue;

  constructor(config: LogConfig, context: ChannelContext, openFile: OpenFile = openNewFile) {
    const own = path.join(context.dataDir, "channels", encodeURIComponent(context.name));
    this.transactionCapacity = config.transactionCapacity;
    this.#name = context.name;
    const limits = {
      channel: context.name,
      capacity: config.capacity,
      byteCapacity: config.byteCapacity,
      memoryCapacity: config.memoryCapacity,
      waitSeconds: config["keep-alive"],
    };
    const settings = {
      channel: context.name,
      checkpointFolder: path.resolve(config.checkpointDir || path.join(own, "checkpoint")),
      dataFolders: (config.dataDirs.length > 0 ? config.dataDirs : [path.join(own, "data")]).map((one) =>
        path.resolve(one),
      ),
      inMemory: config.memoryCapacity > 0,
      segmentBytes: Math.min(config.maxFileSize, Math.floor(config.byteCapacity / 4)),
      openFile,
      lockFolder: context.lockFolder,
    };
    this.#queue = new LogQueue(limits, settings, context.log);
  }

  get size(): number {
    return this.#queue.size;
  }

  get bytes(): number {
    return this.#queue.bytes;
  }

  get lost(): number {
    return this.#queue.lost;
  }

  openPut(events = 0): PutTransaction {
    return new QueuePut(this.#queue, { channel: this.#name, most: Math.max(events, this.transactionCapacity) });
  }

  openTake(): TakeTransaction {
    return new QueueTake(this.#queue, { channel: this.#name, most: this.transactionCapacity });
  }

  async skipTo(position: string): Promise<number> {
    return await this.#queue.skipTo(position);
  }

  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    return await this.#queue.leaveOut(ids);
  }

  async start(): Promise<void> {
    await this.#queue.open();
  }

  async stop(): Promise<void> {
    await this.#queue.close();
  }
}

/** Every event on disk before its put resolves. */
export function fileChannel(config: FileConfig, context: ChannelContext): FileChannel {
  return new FileChannel({ ...config, memoryCapacity: 0 }, context);
}

/** In memory first, on disk what does not fit there. */
export function spillableChannel(
  { overflowCapacity, ...config }: SpillableConfig,
  context: ChannelContext,
): FileChannel {
  return new FileChannel({ ...config, capacity: config.memoryCapacity + overflowCapacity }, context);
}
