import { catalogueOf } from "../../core/registry/discover.js";
import { definePlugin } from "../../core/sdk/index.js";
import { fakePlugins } from "./plugins.js";

/** A class name of the predecessor. */
export const old = (name: string) => `org.example.${name}`;
const store = definePlugin({
  kind: "sink",
  type: "store",
  aliases: [old("SeaSink"), old("LandSink")],
  spellings: [
    {
      types: [old("SeaSink")],
      means: { store_kind: "sea" },
      implies: { store_port: "3306", layout: "row" },
      prefixes: { sea_: "store_" },
      variables: { SEA_HOST: "store_host", SEA_PASS: "store_password", SEA_BATCH: "batch_size" },
      fileVariables: { SEA_PASS_FILE: "store_password" },
      rereads: {
        store_host: (text) => (text === "NORTH" ? { text: "north", reason: 'is read as "north"' } : undefined),
        store_password: (text) => (text === "salt" ? { reason: "is known by all fish" } : undefined),
        layout: (text) => (text === "ice" ? { missing: true, reason: "melts here" } : undefined),
      },
      without: { sea_level: "the sea has none here" },
      better: ["it floats"],
      different: ["it is salty"],
    },
    { types: [old("LandSink")], means: { store_kind: "land" }, variables: { LAND_HOST: "store_host" } },
  ],
  summary: "A sink with a past.",
  stability: "stable",
  config: {
    store_kind: { doc: "Kind.", format: ["land", "sea"], default: "land" },
    store_host: { doc: "Host.", format: "text", default: "localhost", env: "STORE_HOST" },
    store_port: { doc: "Port.", format: "port", default: 5432 },
    store_password: { doc: "Password.", format: "text", default: "", sensitive: true },
    layout: { doc: "Layout.", format: ["row", "column"], default: "column" },
  },
  create: () => {
    throw new Error("a plugin of the configuration tests was created");
  },
});
/** The fake plugins and one sink that a predecessor spelt differently. */
export const { catalogue: speltCatalogue } = catalogueOf(
  [...fakePlugins, store].map((definition) => ({ definition, origin: "test" })),
);
