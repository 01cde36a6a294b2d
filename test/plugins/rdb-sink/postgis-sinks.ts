import type { Attribute, Entity } from "../../../core/ngsi/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { NO_POSTGIS, type TestDatabase } from "../../support/postgresql.js";
import { never, sinkOf } from "./sinks.js";
import { v2Attribute } from "./v2-events.js";

export interface PostgisStore extends TestDatabase {
  sink(config?: Partial<RdbConfig>): ReturnType<typeof sinkOf>["sink"];
}

/** Runs with sinks that are stopped afterwards. */
export async function withSinks(
  server: TestDatabase | undefined,
  run: (store: PostgisStore) => Promise<void>,
): Promise<void> {
  if (server === undefined) throw new Error(NO_POSTGIS);
  const address = {
    rdb_host: server.host,
    rdb_port: server.port,
    rdb_username: server.user,
    rdb_password: server.password,
  };
  const made: ReturnType<typeof sinkOf>["sink"][] = [];
  const sink = (config: Partial<RdbConfig> = {}) => {
    const one = sinkOf({ ...address, rdb_database: server.database, attr_geometry: true, ...config }).sink;
    made.push(one);
    return one;
  };
  try {
    await run({ ...server, sink });
  } finally {
    for (const one of made) await one.stop(never);
  }
}

export const geoProperty = (name: string, value: object | undefined): Attribute =>
  v2Attribute(name, "GeoProperty", value);
export const ld = (id: string, ...attributes: readonly Attribute[]): Entity => ({ id, type: "T", attributes });
export const point = (...coordinates: readonly number[]) => ({ type: "Point", coordinates });
