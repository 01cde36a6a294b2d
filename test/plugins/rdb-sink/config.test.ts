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
  { config: { rdb_host: "/var/run/postgresql" }, faulty: [] },
  { config: { rdb_host: "fe80::1%eth0" }, faulty: [] },
  { config: { rdb_host: "db_1.example.org." }, faulty: [] },
  { config: { rdb_host: "db:5432" }, faulty: ["rdb_host"] },
  { config: { rdb_host: "db:5432", rdb_dialect: "mysql" }, faulty: ["rdb_host"] },
  { config: { rdb_host: "db:5432", rdb_dialect: "sqlite" }, faulty: [] },
  { config: { rdb_host: "first,second" }, faulty: ["rdb_host"] },
  { config: { rdb_host: "postgresql://db/history" }, faulty: ["rdb_host"] },
  { config: { rdb_host: '"db"' }, faulty: ["rdb_host"] },
  { config: { rdb_host: "db # of the town" }, faulty: ["rdb_host"] },
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

for (const { config, reason } of [
  {
    config: { rdb_options: "sslmod=require&connect_timeout=3" },
    reason:
      '"sslmod" is not known and has no effect; known are sslmode, ssl, sslrootcert, sslcert, sslkey, connecttimeout, sockettimeout, applicationname, currentschema',
  },
  {
    config: { attr_geometry: true, attr_geometry_x: "latitude" },
    reason:
      "geo:point, geo:line, geo:box and geo:polygon are stored with x = latitude, as the predecessor did; maps expect x = longitude",
  },
] as const)
  test(`${JSON.stringify(config)} is warned of, and the sink runs`, () => {
    const [fault, ...others] = rdbFaults(configOf(config));

    assert.deepEqual([fault?.severity, fault?.reason, others], ["warning", reason, []]);
  });

test("an unknown option of Connector/J is warned of with those that are known", () => {
  const [fault] = rdbFaults(configOf({ rdb_options: "useUnicode=true&useSSL=true", rdb_dialect: "mysql" }));

  assert.equal(fault?.severity, "warning");
  assert.match(fault.reason, /^"useUnicode" is not known and has no effect; known are sslmode, .*usessl/);
});

test("the password is the only secret", () => {
  const secrets = Object.entries(rdbConfig).filter(([, property]) => "sensitive" in property);

  assert.deepEqual(
    secrets.map(([property]) => property),
    ["rdb_password"],
  );
});
