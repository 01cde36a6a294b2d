import type { ProbeResult } from "deneb/sdk";

interface KeysOfServer {
  readonly requiredBy: "sql_require_primary_key" | "Group Replication" | undefined;
  /** `sql_generate_invisible_primary_key` */
  readonly generated: boolean;
  readonly partitioned: boolean;
}

/** Whether the server takes tables of history, which have no primary key. It adds one only to tables without partitions. */
export function tablesWithoutKey({ requiredBy, generated, partitioned }: KeysOfServer): ProbeResult {
  if (generated && partitioned)
    return {
      outcome: "failed",
      reason: "sql_generate_invisible_primary_key is ON: the server cannot add that key to a table with partitions",
      remedy: `set partition = none${requiredBy === undefined ? ", or switch that variable off there" : ""}`,
    };
  if (requiredBy === undefined || generated) return { outcome: "ok" };
  return {
    outcome: "failed",
    reason: `tables of history have no primary key, and ${requiredBy} asks for one`,
    remedy: `set sql_generate_invisible_primary_key = ON there${partitioned ? " and partition = none" : ""}`,
  };
}
