import path from "node:path";
import {
  type Channel,
  type ChannelContext,
  type Examiner,
  type Probe,
  type PutTransaction,
  type Putting,
  type ServiceHolding,
  type TakeTransaction,
  textCodecs,
} from "deneb/sdk";
import { QueuePut, QueueTake } from "deneb/sdk/channel";
import type { FileConfig, SpillableConfig } from "./config.js";
import { type OpenFile, openNewFile } from "./log/files.js";
import { LogQueue } from "./log-queue.js";
import { type LogFolders, logProbes } from "./probes.js";

/** What `file` and `spillable` have in common, and how many events are in memory alone. */
export type LogConfig = Omit<FileConfig, "capacity"> & { readonly capacity: number; readonly memoryCapacity: number };

/** A channel over a log on disk. */
export class FileChannel implements Channel {
  readonly durable = true;
  readonly redelivers = true;
  readonly holdsApart = true;
  readonly transactionCapacity: number;
  readonly #name: string;
  readonly #queue: LogQueue;
  readonly #folders: LogFolders;

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
      service_percentage: config.service_percentage,
      fair_taking: config.fair_taking,
    };
    const settings = {
      channel: context.name,
      checkpointFolder: path.resolve(config.checkpointDir || path.join(own, "checkpoint")),
      dataFolders: (config.dataDirs.length > 0 ? config.dataDirs : [path.join(own, "data")]).map((one) =>
        path.resolve(one),
      ),
      inMemory: config.memoryCapacity > 0,
      mostBytes: config.byteCapacity,
      segmentBytes: Math.min(config.maxFileSize, Math.floor(config.byteCapacity / 4)),
      openFile,
      lockFolder: context.lockFolder,
      codecs: textCodecs(context.textCodecs),
    };
    this.#folders = settings;
    this.#queue = new LogQueue(limits, settings, context.log);
  }

  get size(): number {
    return this.#queue.size;
  }

  get bytes(): number {
    return this.#queue.bytes;
  }

  get unsaved(): number {
    return this.#queue.unsaved;
  }

  get lost(): number {
    return this.#queue.lost;
  }

  largestServices(most: number): readonly ServiceHolding[] | undefined {
    return this.#queue.largestServices(most);
  }

  openPut(events = 0, putting?: Putting): PutTransaction {
    const most = Math.max(events, this.transactionCapacity);
    return new QueuePut(this.#queue, { channel: this.#name, most }, putting);
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

  probes(examiner: Examiner): readonly Probe[] {
    return logProbes(this.#folders, examiner);
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
