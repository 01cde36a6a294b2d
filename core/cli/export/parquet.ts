import { AgentError, type StoredColumn } from "../../sdk/index.js";
import type { Rows } from "./formats.js";

/** Rows of a row group, which is held in memory, and the characters of its texts. */
const MOST_ROWS = 20_000;
const MOST_CHARACTERS = 16_000_000;

/** Writes rows as Parquet; resolves to their number. The library is loaded only here. */
export async function writeParquet(
  file: string,
  columns: readonly StoredColumn[],
  pages: AsyncIterable<Rows>,
): Promise<number> {
  const { fileWriter, ParquetWriter } = await import("hyparquet-writer");
  const schema = [{ name: "root", num_children: columns.length }, ...columns.map(elementOf)];
  const writer = new ParquetWriter({ writer: fileWriter(file), schema, createdBy: "deneb" });
  let group: Rows[number][] = [];
  let characters = 0;
  let written = 0;
  const flush = async () => {
    if (group.length === 0) return;
    const columnData = columns.map((column, index) => ({
      name: column.name,
      data: group.map((row) => parquetValue(column, row[index])),
    }));
    await writer.write({ columnData, rowGroupSize: group.length });
    written += group.length;
    group = [];
    characters = 0;
  };
  for await (const page of pages) {
    for (const row of page) {
      group.push(row);
      for (const cell of row) characters += cell?.length ?? 0;
      if (group.length >= MOST_ROWS || characters >= MOST_CHARACTERS) await flush();
    }
  }
  await flush();
  await writer.finish();
  return written;
}

/** Text and JSON are UTF-8, times have microseconds, numbers are of double precision. */
function elementOf({ name, kind }: StoredColumn) {
  const optional = { name, repetition_type: "OPTIONAL" } as const;
  if (kind === "integer") return { ...optional, type: "INT64" } as const;
  if (kind === "number") return { ...optional, type: "DOUBLE" } as const;
  if (kind === "boolean") return { ...optional, type: "BOOLEAN" } as const;
  if (kind === "time") return { ...optional, type: "INT64", converted_type: "TIMESTAMP_MICROS" } as const;
  return { ...optional, type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
}

function parquetValue({ name, kind }: StoredColumn, cell: string | undefined): unknown {
  if (cell === undefined) return undefined;
  if (kind === "integer" && /^-?\d+$/.test(cell)) return BigInt(cell);
  if (kind === "number" && cell.trim() !== "" && (cell === "NaN" || !Number.isNaN(Number(cell)))) return Number(cell);
  if (kind === "boolean" && (cell === "true" || cell === "false")) return cell === "true";
  if (kind === "time" && TIME.test(cell)) return micros(cell);
  if (kind === "text" || kind === "json") return cell;
  const message = `writing column "${name}" as Parquet: ${JSON.stringify(cell)} is no value of type ${kind}`;
  throw new AgentError("NOT_OF_ITS_TYPE", `${message}; use CSV or NDJSON`, { retryable: false });
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function micros(time: string): bigint {
  const [seconds = "", fraction = ""] = time.replace("Z", "").split(".");
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}
