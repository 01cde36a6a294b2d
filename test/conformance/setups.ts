import { join } from "node:path";
import { sampleNotifications } from "../../core/embedded/sample-notifications.js";
import type { ChannelLimits, PluginSetup } from "../../core/testing/index.js";
import { brokerOfTests } from "../support/mosquitto-server.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../support/provided-kafka.js";
import { reachable } from "../support/reachable.js";
import { httpStore } from "./http-store.js";
import { httpInlet, kafkaInlet, mqttInlet } from "./inlets.js";
import { kafkaStore } from "./kafka-store.js";
import { mysqlStore, ownMysqlServer } from "./mysql-store.js";
import { postgresqlStore, sqliteStore } from "./relational-stores.js";
import { onNats } from "./shared-logs.js";

export interface NamedSetup {
  /** What of the plugin is tested; empty when there is nothing to tell apart. */
  readonly name: string;
  readonly setup: PluginSetup;
  /** Why it cannot be tested here. */
  readonly skip?: string;
  /** Ends what was started for it. */
  readonly stop?: () => Promise<void>;
}

const ownFiles = { afterCrash: "copied", twoAgents: "refused" } as const;

/**
 * How the plugins of the repository are tested, by kind and type: those that are not named here are tested with
 * their defaults.
 */
export const setups: ReadonlyMap<string, readonly NamedSetup[]> = new Map<string, readonly NamedSetup[]>([
  [
    "source http",
    [{ name: "", setup: { config: () => ({ port: 0, bind: "127.0.0.1" }), openInlet: () => httpInlet() } }],
  ],
  [
    "interceptor name-mappings",
    [{ name: "", setup: { config: (folder) => ({ name_mappings_conf_file: join(folder, "mappings.json") }) } }],
  ],
  [
    "interceptor regex_extractor",
    [
      {
        name: "",
        setup: {
          config: () => ({ regex: "(\\w+)", serializers: ["first"], "serializers.*": { "first.name": "word" } }),
        },
      },
    ],
  ],
  [
    "handler ngsi",
    [{ name: "", setup: { config: () => ({ ngsi_version: "auto" }), accepted: Object.values(sampleNotifications) } }],
  ],
  ["interceptor remove_header", [{ name: "", setup: { config: () => ({ withName: "link" }) } }]],
  ["interceptor search_replace", [{ name: "", setup: { config: () => ({ searchPattern: "a" }) } }]],
  ["selector round_robin", [{ name: "", setup: { config: () => ({ "storages.*": { storage1: "c1 c2" } }) } }]],
  ["channel jetstream", [await onNats()]],
  ["source mqtt", [await onMosquitto()]],
  ["source kafka", [await fromKafka()]],
  ["sink kafka", [await onKafka()]],
  ["sink http", [ofHttp({ send: "event" }), ofHttp({ send: "batch" })]],
  ["channel memory", [{ name: "", setup: { limits: boundedBy } }, inTurn({ limits: boundedBy })]],
  [
    "channel file",
    [{ name: "", setup: { limits: inFolder, channel: ownFiles } }, inTurn({ limits: inFolder, channel: ownFiles })],
  ],
  ["channel kafka", [ofKafka()]],
  ["channel spillable", [spillable(1), spillable(4), inTurn(spillable(4).setup)]],
  ["sink rdb", [{ name: " on SQLite", setup: { openStore: sqliteStore } }, await onPostgresql(), await onMysql()]],
]);

function boundedBy({ capacity, transactionCapacity, waitSeconds }: ChannelLimits) {
  return { capacity, transactionCapacity, "keep-alive": waitSeconds };
}

function inFolder(limits: ChannelLimits, folder: string) {
  return { ...boundedBy(limits), checkpointDir: join(folder, "checkpoint"), dataDirs: [join(folder, "data")] };
}

/** The same channel with fair_taking. */
function inTurn(setup: ChannelSetup): NamedSetup {
  const limits: ChannelSetup["limits"] = (...given) => ({ ...setup.limits(...given), fair_taking: true });
  return { name: ", services in turn", setup: { ...setup, limits } };
}

type ChannelSetup = PluginSetup & Required<Pick<PluginSetup, "limits">>;

/** The capacity is that in memory and that on disk together. */
function spillable(most: number): NamedSetup & { readonly setup: ChannelSetup } {
  const limits = ({ capacity, ...rest }: ChannelLimits, folder: string) => {
    const memoryCapacity = Math.min(most, capacity - 1);
    const { capacity: _capacity, ...values } = inFolder({ capacity, ...rest }, folder);
    return { ...values, memoryCapacity, overflowCapacity: capacity - memoryCapacity };
  };
  return { name: `, ${most} in memory`, setup: { limits, channel: { ...ownFiles, afterCrash: "stop" } } };
}

function ofHttp(config: { readonly send: "event" | "batch" }): NamedSetup {
  const url = "http://127.0.0.1:1/";
  return {
    name: `, send = ${config.send}`,
    setup: { config: () => ({ url, ...config }), openStore: () => httpStore(config) },
  };
}

async function onMysql(): Promise<NamedSetup> {
  const name = " on MySQL";
  const server = await ownMysqlServer();
  if (server === undefined) return { name, setup: {}, skip: "the programs of MariaDB are not installed" };
  return { name, setup: { openStore: () => mysqlStore(server) }, stop: server.stop };
}

async function fromKafka(): Promise<NamedSetup> {
  const config = () => ({ bootstrap_servers: [kafkaOfTests()], topics: ["conformance"], request_timeout: 2000 });
  const setup = { config, openInlet: () => kafkaInlet() };
  return (await answersKafka()) ? { name: "", setup } : { name: "", setup, skip: NO_KAFKA };
}

async function onKafka(): Promise<NamedSetup> {
  const config = () => ({ bootstrap_servers: [kafkaOfTests()], topic: "conformance", request_timeout: 2000 });
  const setup = { config, openStore: kafkaStore };
  return (await answersKafka()) ? { name: "", setup } : { name: "", setup, skip: NO_KAFKA };
}

/** Its cases as a channel are in test/plugins/kafka: agents there can be cut off, and have their share of the log at the start. */
function ofKafka(): NamedSetup {
  return { name: "", setup: { config: () => ({ bootstrap_servers: ["127.0.0.1:1"], topic: "conformance" }) } };
}

async function onMosquitto(): Promise<NamedSetup> {
  const { host, port } = brokerOfTests();
  const url = `mqtt://${host}:${port}`;
  const setup = { config: () => ({ url, topics: ["conformance"] }), openInlet: () => mqttInlet(url) };
  return (await reachable(host, port)) ? { name: "", setup } : { name: "", setup, skip: "no MQTT broker is reachable" };
}

async function onPostgresql(): Promise<NamedSetup> {
  const name = " on PostgreSQL";
  const reached = await postgresqlStore();
  await reached?.close();
  if (reached === undefined) return { name, setup: {}, skip: "PostgreSQL is not reachable" };
  return { name, setup: { openStore } };
}

async function openStore() {
  const store = await postgresqlStore();
  if (store === undefined) throw new Error("the PostgreSQL of the tests went away");
  return store;
}
