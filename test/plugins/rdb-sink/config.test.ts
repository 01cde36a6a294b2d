import assert from "node:assert/strict";
import { test } from "node:test";
import { type RdbConfig, rdbConfig } from "../../../plugins/rdb-sink/config.js";
import { rdbFaults } from "../../../plugins/rdb-sink/databases.js";
import { configOf } from "./sinks.js";

const cases: readonly { readonly config: Partial<RdbConfig>; readonly faulty: readonly string[] }[] = [
  { config: {}, faulty: [] },
  { config: { data_model: "DMByEntityType" }, faulty: [] },
  { config: { data_model: "dm-by-service-path" }, faulty: [] },
  { config: { data_model: "dm-by-entity-database-schema" }, faulty: [] },
  { config: { data_model: "dm-by-entity-database-schema", rdb_dialect: "mysql" }, faulty: ["data_model"] },
  { config: { data_model: "dm-by-entity-database", rdb_dialect: "sqlite" }, faulty: ["data_model"] },
  { config: { data_model: "dm-by-nothing" }, faulty: ["data_model"] },
  { config: { attr_persistence: "row" }, faulty: [] },
  { config: { attr_persistence: "row", last_data_mode: "both" }, faulty: [] },
  { config: { last_data_table_suffix: "", last_data_unique_key: [] }, faulty: [] },
  {
    config: { last_data_mode: "upsert", last_data_table_suffix: "", last_data_unique_key: [] },
    faulty: ["last_data_table_suffix", "last_data_unique_key"],
  },
  { config: { enable_grouping: true, enable_name_mappings: true }, faulty: ["enable_grouping"] },
  { config: { enable_lowercase: true, "backend.enable_cache": true }, faulty: [] },
  { config: { attr_geometry: true, attr_geometry_index: true }, faulty: [] },
  { config: { attr_geometry: true, rdb_dialect: "mysql" }, faulty: ["attr_geometry"] },
  { config: { attr_geometry: true, rdb_dialect: "sqlite" }, faulty: ["attr_geometry"] },
  { config: { rdb_options: "sslmode=sometimes" }, faulty: ["rdb_options"] },
  { config: { rdb_options: "sslMode=VERIFY_CA", rdb_dialect: "mysql" }, faulty: [] },
  { config: { rdb_host: "::1" }, faulty: [] },
  { config: { rdb_host: "[::1]" }, faulty: ["rdb_host"] },
  { config: { partition: "day", retention_days: 30, indexes: true }, faulty: [] },
  { config: { partition: "month", rdb_dialect: "mysql" }, faulty: [] },
  { config: { partition: "day", rdb_dialect: "sqlite" }, faulty: ["partition"] },
  { config: { retention_days: 30, rdb_dialect: "sqlite" }, faulty: [] },
  { config: { retention_days: 1, "persistence_policy.expiration_time": 86_400 }, faulty: [] },
  { config: { retention_days: 1, "persistence_policy.expiration_time": 3600 }, faulty: ["retention_days"] },
  { config: { timescaledb: true, partition: "day", attr_native_types: true }, faulty: [] },
  { config: { timescaledb: true, partition: "day" }, faulty: ["timescaledb"] },
  { config: { timescaledb: true, attr_native_types: true }, faulty: ["timescaledb"] },
  {
    config: { timescaledb: true, rdb_dialect: "mysql", partition: "day", attr_native_types: true },
    faulty: ["timescaledb"],
  },
  { config: { rdb_options: "connectTimeout=soon", rdb_dialect: "mysql" }, faulty: ["rdb_options"] },
];

for (const { config, faulty } of cases)
  test(`faults of ${JSON.stringify(config)}`, () => {
    assert.deepEqual(
      rdbFaults(configOf(config)).map(({ property }) => property),
      faulty,
    );
  });

test("the password is the only secret", () => {
  const secrets = Object.entries(rdbConfig).filter(([, property]) => "sensitive" in property);

  assert.deepEqual(
    secrets.map(([property]) => property),
    ["rdb_password"],
  );
});
