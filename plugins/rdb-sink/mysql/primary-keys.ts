import type { ProbeResult } from "deneb/sdk";

interface KeysOfServer {
  /** `sql_require_primary_key` */
  readonly required: boolean;
  /** `sql_generate_invisible_primary_key` */
  readonly generated: boolean;
  readonly partitioned: boolean;
}

/** Whether the server takes tables of history, which have no primary key. It adds one only to tables without partitions. */
export function tablesWithoutKey({ required, generated, partitioned }: KeysOfServer): ProbeResult {
  if (generated && partitioned)
    return {
      outcome: "failed",
      reason: "sql_generate_invisible_primary_key is ON: the server cannot add that key to a table with partitions",
      remedy: "set partition = none, or switch that variable and sql_require_primary_key off there",
    };
  if (!required || generated) return { outcome: "ok" };
  const remedy = partitioned
    ? "switch it off there, or set sql_generate_invisible_primary_key = ON there and partition = none"
    : "set sql_generate_invisible_primary_key = ON there, or switch it off";
  return {
    outcome: "failed",
    reason: "sql_require_primary_key is ON: tables of history have no primary key and cannot be made",
    remedy,
  };
}
