import path from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { directoryLogPlugin } from "../support/directory-log.js";
import { freePort } from "../support/free-port.js";
import { kafkaPrograms } from "../support/kafka-jars.js";
import { startOwnKafka } from "../support/own-kafka.js";
import { natsProgram, startOwnNats } from "../support/own-nats.js";
import { type WayToPostgresql, wayToPostgresql } from "../support/way-to-postgresql.js";
import { engineOutageMilliseconds } from "./measure.js";
import type { Mishap } from "./troubles.js";

const HOST = "127.0.0.1";
const FROZEN_MILLIS = 3000;

/** What keeps a log, for this test alone. */
export interface SharedEngine {
  readonly flags: readonly string[];
  /** A way of one agent to it, which can be cut; undefined when there is none. */
  way(): Promise<WayToPostgresql | undefined>;
  /** The properties of a channel of an agent. */
  properties(way: WayToPostgresql | undefined): Readonly<Record<string, string>>;
  /** It ends and starts again. */
  readonly mishaps: Readonly<Record<string, Mishap>>;
}

/** A plugin of somebody else, over a folder. */
export async function directoryEngine(folder: string): Promise<SharedEngine> {
  return {
    flags: ["--plugins", directoryLogPlugin],
    way: async () => undefined,
    properties: () => ({ type: "directory-log", folder: path.join(folder, "log") }),
    mishaps: {},
  };
}

/** A NATS server; undefined where none is installed. */
export async function jetstreamEngine(context: TestContext): Promise<SharedEngine | undefined> {
  const program = await natsProgram();
  if (program === undefined) return undefined;
  const server = await startOwnNats(program);
  context.after(() => server.stop());
  return {
    flags: [],
    way: () => wayToPostgresql(context, server),
    properties: (way) => ({
      type: "jetstream",
      servers: `nats://127.0.0.1:${way?.port ?? server.port}`,
      stream: "crash",
    }),
    mishaps: troublesOf("NATS", server),
  };
}

/** A Kafka; undefined where none is installed. It has a port for each agent: a client goes to where the broker says that it is. */
export async function kafkaEngine(context: TestContext, agents = 3): Promise<SharedEngine | undefined> {
  const programs = await kafkaPrograms();
  if (programs === undefined) return undefined;
  const ports = await Promise.all(Array.from({ length: agents }, () => freePort(HOST)));
  const ways = await Promise.all(ports.map((port) => wayToPostgresql(context, { host: HOST, port })));
  const server = await startOwnKafka(programs, {
    ways: ways.map((way, index) => ({ port: ports[index] ?? 0, advertised: way.port })),
  });
  context.after(() => server.stop());
  const free = [...ways];
  return {
    flags: [],
    way: async () => free.shift(),
    properties: (way) => ({
      type: "kafka",
      bootstrap_servers: `${HOST}:${way?.port ?? server.port}`,
      topic: "crash",
      partitions: "8",
    }),
    mishaps: troublesOf("Kafka", server),
  };
}

/** A server of which the process is ended and frozen. */
interface Endable {
  halt(): Promise<void>;
  resume(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): void;
}

function troublesOf(name: string, server: Endable): SharedEngine["mishaps"] {
  let outage = engineOutageMilliseconds;
  return {
    [`${name} killed`]: async () => {
      await server.halt();
      await pause(outage);
      outage = 0;
      await server.resume();
    },
    [`${name} frozen`]: async () => {
      await server.freeze();
      await pause(FROZEN_MILLIS);
      server.thaw();
    },
  };
}
