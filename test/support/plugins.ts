import { catalogueOf } from "../../core/registry/discover.js";
import { definePlugin } from "../../core/sdk/index.js";

const declared = { stability: "stable", summary: "A plugin that exists for its declaration only." } as const;

function create(): never {
  throw new Error("a plugin of the configuration tests was created");
}

/** Plugins that are read but never run, one or more of each kind. */
export const fakePlugins = [
  definePlugin({
    ...declared,
    kind: "source",
    type: "http",
    aliases: ["org.example.source.HTTPSource"],
    config: {
      port: { doc: "Port.", format: "port", min: 1, default: 5050 },
      bind: { doc: "Address.", format: "text", default: "0.0.0.0" },
    },
    slots: { handler: "handler" },
    create,
  }),
  definePlugin({
    ...declared,
    kind: "handler",
    type: "ngsi",
    config: {
      notification_target: { doc: "Path.", format: "text", default: "/notify" },
      default_service: { doc: "Service.", format: "text", maxLength: 50, default: "default" },
    },
    check: ({ notification_target }) =>
      notification_target.startsWith("/")
        ? []
        : [{ property: "notification_target", reason: "must start with a slash, for example /notify" }],
    create,
  }),
  definePlugin({
    ...declared,
    kind: "interceptor",
    type: "timestamp",
    config: { preserve: { doc: "Keep.", format: "flag", default: false } },
    create,
  }),
  definePlugin({
    ...declared,
    kind: "selector",
    type: "replicating",
    aliases: ["org.example.channel.ReplicatingChannelSelector"],
    config: { optional: { doc: "Channels that may be full.", format: "words", default: [] } },
    create,
  }),
  definePlugin({
    ...declared,
    kind: "selector",
    type: "multiplexing",
    config: {
      header: { doc: "Header.", format: "text", default: "fiware-service" },
      mapping: { doc: "Channels by value.", format: "map" },
      default: { doc: "Otherwise.", format: "words", default: [] },
    },
    create,
  }),
  definePlugin({
    ...declared,
    kind: "channel",
    type: "memory",
    config: {
      capacity: { doc: "Events.", format: "count", min: 1, default: 100 },
      transactionCapacity: { doc: "Events of a transaction.", format: "count", min: 1, default: 100 },
    },
    check: ({ capacity, transactionCapacity }) =>
      transactionCapacity <= capacity
        ? []
        : [{ property: "transactionCapacity", reason: "must not be more than capacity" }],
    create,
  }),
  definePlugin({ ...declared, kind: "sink", type: "logger", config: {}, create }),
  definePlugin({
    ...declared,
    kind: "sink",
    type: "rdb",
    aliases: ["org.example.sinks.RelationalSink"],
    config: {
      rdb_host: { doc: "Host.", format: "text", default: "localhost", env: "AGENT_RDB_HOST" },
      rdb_port: { doc: "Port.", format: "port", default: 5432, env: "AGENT_RDB_PORT" },
      rdb_password: {
        doc: "Password.",
        format: "text",
        maxLength: 20,
        default: "",
        env: "AGENT_RDB_PASS",
        envFile: "AGENT_RDB_PASS_FILE",
        sensitive: true,
      },
      attr_persistence: { doc: "Layout.", format: ["row", "column"], default: "column" },
      "backend.enable_cache": { doc: "Cache.", format: "flag", default: false },
      old_name: { doc: "Old.", format: "text", default: "", deprecated: "use rdb_host instead" },
    },
    create,
  }),
];

/** A catalogue of the fake plugins. */
export const fakeCatalogue = catalogueOf(fakePlugins.map((definition) => ({ definition, origin: "test" }))).catalogue;
