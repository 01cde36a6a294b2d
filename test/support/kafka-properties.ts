import { randomBytes } from "node:crypto";
import { freePort } from "./free-port.js";

const HOST = "127.0.0.1";

/** One of several brokers that are each other's controllers. */
export interface ClusterMember {
  readonly clusterId: string;
  readonly node: number;
  /** Its port for clients. */
  readonly port: number;
  /** The ports of the controllers by their node. */
  readonly controllers: ReadonlyMap<number, number>;
}

/** What {@link KafkaSettings.member} says, for a broker that stands alone too. */
export async function memberOf({ member }: KafkaSettings): Promise<ClusterMember> {
  if (member !== undefined) return member;
  const [port, controller] = [await freePort(HOST), await freePort(HOST)];
  return { clusterId: clusterId(), node: 1, port, controllers: new Map([[1, controller]]) };
}

export interface KafkaSettings {
  /** Of the listener of the clients. */
  readonly protocol?: "PLAINTEXT" | "SSL" | "SASL_PLAINTEXT" | "SASL_SSL";
  /** Further lines of server.properties; `FOLDER` stands for the folder of the server. */
  readonly lines?: readonly string[];
  /** Further files in its folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further ports without security; to clients that come by one the broker says that it is at `advertised`. */
  readonly ways?: readonly { readonly port: number; readonly advertised: number }[];
  /** Which one of a cluster it is; absent: it is its own controller. */
  readonly member?: ClusterMember;
  /** Users of SCRAM, for both mechanisms, with their passwords. */
  readonly users?: Readonly<Record<string, string>>;
  /** Options of Java in place of those that have it start soon. */
  readonly java?: readonly string[];
}

/**
 * The lines of server.properties; `FOLDER` stands for the folder of the server. The controller has a listener of its own, without
 * security: nobody else knows its port.
 */
export function kafkaProperties(
  settings: KafkaSettings,
  { node, port, controllers }: ClusterMember,
): readonly string[] {
  const ways = settings.ways ?? [];
  const listeners = [`CLIENT://${HOST}:${port}`, ...ways.map((way, index) => `WAY${index}://${HOST}:${way.port}`)];
  const advertised = [`CLIENT://${HOST}:${port}`, ...ways.map((way, at) => `WAY${at}://${HOST}:${way.advertised}`)];
  const plain = ["CONTROLLER", ...ways.map((_, index) => `WAY${index}`)].map((name) => `${name}:PLAINTEXT`);
  return [
    "process.roles=broker,controller",
    `node.id=${node}`,
    `controller.quorum.voters=${[...controllers].map(([id, at]) => `${id}@${HOST}:${at}`).join()}`,
    `listeners=${listeners.join()},CONTROLLER://${HOST}:${controllers.get(node)}`,
    `advertised.listeners=${advertised.join()}`,
    `listener.security.protocol.map=CLIENT:${settings.protocol ?? "PLAINTEXT"},${plain.join()}`,
    "inter.broker.listener.name=CLIENT",
    "controller.listener.names=CONTROLLER",
    "log.dirs=FOLDER/data",
    `offsets.topic.replication.factor=${controllers.size}`,
    `transaction.state.log.replication.factor=${controllers.size}`,
    "transaction.state.log.min.isr=1",
    "transaction.state.log.num.partitions=3",
    "offsets.topic.num.partitions=3",
    "auto.create.topics.enable=false",
    "log.cleaner.dedupe.buffer.size=2097152",
    "num.network.threads=2",
    "num.io.threads=4",
    ...(settings.lines ?? []),
    "",
  ];
}

/** The options of its formatting for the users. */
export function scramUsers({ users = {} }: KafkaSettings): readonly string[] {
  return Object.entries(users).flatMap(([name, password]) =>
    ["SCRAM-SHA-256", "SCRAM-SHA-512"].flatMap((mechanism) => [
      "--add-scram",
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
}

export const LOG4J = `log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c %m%n
`;

/** A new one, which does not look like a flag. */
export function clusterId(): string {
  return randomBytes(16).toString("base64url").replace(/^-/, "A");
}
