import { mkdir } from "node:fs/promises";
import {
  AGENT,
  agentContainer,
  DEAD_LETTER_REPLAY,
  DEAD_LETTERS,
  RELOAD,
  STATISTICS,
} from "../../core/agent/container.js";
import type { ComponentNode, SinkNode, Topology } from "../../core/configuration/topology.js";
import type { AnyPlugin, ChannelContext, Sink, SinkProcessor } from "../../core/sdk/index.js";
import { FileChannel } from "../../plugins/file-channel/file-channel.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { usual } from "../plugins/file-channel/channel-folder.js";
import type { LogLine } from "../support/recording-log.js";
import { recordingLog } from "../support/recording-log.js";
import type { Life } from "./life.js";

export const channelKinds = ["file", "spillable", "memory"] as const;
export const sinkKinds = ["single", "group", "two"] as const;

/** What all agents of a history have in common. */
export interface Setup {
  readonly channel: (typeof channelKinds)[number];
  readonly sinks: (typeof sinkKinds)[number];
  readonly batchSize: number;
}

export interface Wishes {
  /** Another number is another configuration. */
  readonly channel: number;
  readonly sinks: readonly number[];
}

export interface AgentPlan {
  readonly setup: Setup;
  readonly life: Life;
  readonly dataDir: string;
  /** Makes a sink of this process. */
  readonly sink: (name: string, life: Life) => Sink;
}

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const transactionCapacity = 6;

/** A whole agent without sources, on its own data directory. */
export class ModelAgent {
  readonly life: Life;
  readonly dataDir: string;
  readonly lines: readonly LogLine[];
  readonly #container;
  readonly #topology: (wishes: Wishes) => Topology;
  #wishes: Wishes;

  constructor({ setup, life, dataDir, sink }: AgentPlan) {
    const { log, lines } = recordingLog();
    this.life = life;
    this.dataDir = dataDir;
    this.lines = lines;
    this.#topology = topologyOf(setup, (name) => sink(name, life));
    this.#wishes = { channel: 0, sinks: namesOf(setup).map(() => 0) };
    this.#container = agentContainer({ topology: this.#topology(this.#wishes), dataDir, loggers: { of: () => log } });
  }

  get channel() {
    const [running] = this.#agent.assembly.channels;
    if (running === undefined) throw new Error("the agent has no channel");
    return running.channel;
  }

  get ledger() {
    return this.#container.resolve(STATISTICS).snapshot().ledger;
  }

  get letters() {
    return this.#container.resolve(DEAD_LETTERS);
  }

  async start(): Promise<void> {
    await this.#agent.start(0);
  }

  async stop(grace: number): Promise<void> {
    await this.#agent.stop(grace);
  }

  async replay(): Promise<void> {
    await this.#container.resolve(DEAD_LETTER_REPLAY).replay({});
  }

  /** Replaces the channel, and the sinks at these places. */
  async reload(channel: boolean, sinks: readonly number[], grace: number): Promise<void> {
    this.#wishes = {
      channel: this.#wishes.channel + (channel ? 1 : 0),
      sinks: this.#wishes.sinks.map((version, index) => version + (sinks.includes(index) ? 1 : 0)),
    };
    await this.#container.resolve(RELOAD).to(this.#topology(this.#wishes), grace);
  }

  get #agent() {
    return this.#container.resolve(AGENT);
  }
}

function namesOf({ sinks }: Setup): readonly string[] {
  return sinks === "single" ? ["s1"] : ["s1", "s2"];
}

function topologyOf(setup: Setup, sinkOf: (name: string) => Sink): (wishes: Wishes) => Topology {
  const names = namesOf(setup);
  const channel = channelPlugin(setup);
  const plugins = names.map((name): AnyPlugin => ({ ...common, kind: "sink", type: name, create: () => sinkOf(name) }));
  const batching = {
    batchSize: setup.batchSize,
    batchTimeout: 0.001,
    batchTtl: 3,
    batchTtlGiven: false,
    batchRetryIntervals: [0],
  };
  const groups = [{ name: "g", sinks: names, processor: node("g", processorPlugin), positionsTimeout: 0.05 }];
  return (wishes) => ({
    agent: "a",
    sources: [],
    channels: [node("c", channel, { version: wishes.channel })],
    sinks: plugins.map(
      (plugin, index): SinkNode => ({
        ...node(names[index] ?? "", plugin, { version: wishes.sinks[index] }),
        channel: "c",
        batching,
      }),
    ),
    ...(setup.sinks === "group" ? { groups } : {}),
  });
}

function node(name: string, definition: AnyPlugin, config: ComponentNode["config"] = {}): ComponentNode {
  return { name, definition, config, slots: {} };
}

/** A channel of few events and small files. */
function channelPlugin({ channel }: Setup): AnyPlugin {
  // The folders of two processes of a history differ, and a lock of the kernel takes longer than all the rest.
  const lockFolder: ChannelContext["lockFolder"] = async (folder) => {
    await mkdir(folder, { recursive: true });
    return { release: async () => {} };
  };
  const limits = { capacity: 40, transactionCapacity, "keep-alive": 0 };
  return {
    ...common,
    kind: "channel",
    type: channel,
    create: (_config, context) => {
      if (!isChannelContext(context)) throw new Error("no context of a channel");
      if (channel === "memory") return new MemoryChannel({ ...limits, byteCapacity: 1_000_000 }, context);
      const memoryCapacity = channel === "spillable" ? 4 : 0;
      const own = { ...context, lockFolder };
      return new FileChannel({ ...usual, ...limits, maxFileSize: 700, memoryCapacity }, own);
    },
  };
}

function isChannelContext(context: unknown): context is ChannelContext {
  return typeof context === "object" && context !== null && "lockFolder" in context;
}

/** The next sink of the group gets the next batch, so that each of them stores something. */
const processorPlugin: AnyPlugin = {
  ...common,
  kind: "sink-processor",
  type: "turns",
  create: (): SinkProcessor => {
    let next = 0;
    return {
      order: (sinks) => {
        next += 1;
        return sinks.map((_, index) => sinks[(index + next) % sinks.length] ?? "");
      },
      succeeded: () => {},
      failed: () => {},
    };
  },
};
