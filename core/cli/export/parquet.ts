import type { StoredColumn } from "../../sdk/index.js";
import type { Rows } from "./formats.js";

/** Rows of a row group, which is held in memory, and the characters of its texts. */
const MOST_ROWS = 20_000;
const MOST_CHARACTERS = 16_000_000;

/** The kind of a column whose values do not all fit its kind. Text fits every value. */
const wider = {
  number: "integer",
  integer: "text",
  boolean: "text",
  time: "text",
  json: "text",
  text: "text",
} as const;

/**
 * Writes rows as Parquet, and resolves to their number. A value is never changed: where one does not fit the kind of its
 * column, the rows are read again, and the column is of a wider kind.
 */
export async function writeParquet(
  file: string,
  columns: readonly StoredColumn[],
  read: () => AsyncIterable<Rows>,
): Promise<number> {
  for (let shown = columns; ; ) {
    const { written, unfit } = await writtenOnce(file, shown, read());
    if (unfit.size === 0) return written;
    shown = shown.map((column) => (unfit.has(column.name) ? { ...column, kind: wider[column.kind] } : column));
  }
}

/** The library is loaded only here. */
async function writtenOnce(file: string, columns: readonly StoredColumn[], pages: AsyncIterable<Rows>) {
  const { fileWriter, ParquetWriter } = await import("hyparquet-writer");
  const schema = [{ name: "root", num_children: columns.length }, ...columns.map(elementOf)];
  const writer = new ParquetWriter({ writer: fileWriter(file), schema, createdBy: "deneb" });
  const unfit = new Set<string>();
  let group: Rows[number][] = [];
  let characters = 0;
  let written = 0;
  const flush = async () => {
    const columnData = columns.map(({ name, kind }, index) => ({
      name,
      data: group.map((row) => {
        const cell = row[index];
        const value = cell === undefined ? undefined : values[kind](cell);
        if (cell !== undefined && value === undefined) unfit.add(name);
        return value;
      }),
    }));
    if (group.length > 0 && unfit.size === 0) await writer.write({ columnData, rowGroupSize: group.length });
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
  return { written, unfit };
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

const LARGEST = 2n ** 63n - 1n;

/** The value of a cell; undefined if the kind cannot hold it. */
const values = {
  integer: (cell: string) => {
    const value = /^-?\d{1,19}$/.test(cell) ? BigInt(cell) : undefined;
    return value !== undefined && value <= LARGEST && value >= -LARGEST - 1n ? value : undefined;
  },
  number: (cell: string) => {
    const value = Number(cell);
    if (cell.trim() === "" || (Number.isNaN(value) && cell !== "NaN")) return undefined;
    return String(value) === cell || digitsOf(String(value)) === digitsOf(cell) ? value : undefined;
  },
  boolean: (cell: string) => (cell === "true" || cell === "false" ? cell === "true" : undefined),
  time: (cell: string) => (TIME.test(cell) ? micros(cell) : undefined),
  text: (cell: string) => cell,
  json: (cell: string) => cell,
} as const satisfies Record<StoredColumn["kind"], (cell: string) => unknown>;

/** A decimal in one form: its digits without zeros at either end, and where the point is. */
function digitsOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^([-+]?)(\d*)[.]?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const all = `${whole}${fraction}`;
  const leading = /^0*/.exec(all)?.[0].length ?? 0;
  const digits = all.slice(leading).replace(/(?<!0)0+$/, "");
  if (digits === "") return text === "" || all === "" ? text : "0";
  return `${sign === "-" ? "-" : ""}${digits}e${whole.length - leading + Number(exponent)}`;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Undefined for a day that no month has: MySQL may hold `0000-00-00`, or the 30th of February. */
function micros(time: string): bigint | undefined {
  const [seconds = "", fraction = ""] = time.replace("Z", "").split(".");
  const instant = Date.parse(`${seconds}Z`);
  if (Number.isNaN(instant) || !new Date(instant).toISOString().startsWith(seconds)) return undefined;
  return BigInt(instant) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}
