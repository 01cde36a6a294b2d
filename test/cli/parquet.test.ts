import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { Rows } from "../../core/cli/export/formats.js";
import { writeTable } from "../../core/cli/export/write-table.js";
import type { StoredColumn } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";

/** Writes the rows in several pages, and reads them back with the types of their columns. */
async function parquet(file: string, columns: readonly StoredColumn[], rows: Rows) {
  async function* pages() {
    for (const row of rows) yield [row];
  }
  await writeFile(file, "");
  const count = await writeTable(file, { columns, pages: pages(), again: pages, format: "parquet" });
  const buffer = await asyncBufferFromFile(file);
  const { schema } = await parquetMetadataAsync(buffer);
  const types = schema.slice(1).map(({ type, converted_type: meaning }) => `${type} ${meaning ?? ""}`.trim());
  return { count, types, rows: await parquetReadObjects({ file: buffer }) };
}

const cases = [
  { kind: "number", cells: ["21.5", "-0.10", "1e400".slice(0, 3), undefined, "3"], type: "DOUBLE" },
  { kind: "number", cells: ["1", "9007199254740993", "-9223372036854775808"], type: "INT64" },
  { kind: "number", cells: ["0.1234567890123456789", "1"], type: "BYTE_ARRAY UTF8" },
  { kind: "number", cells: ["9007199254740993", "0.5"], type: "BYTE_ARRAY UTF8" },
  { kind: "integer", cells: ["9223372036854775807", undefined, "-1"], type: "INT64" },
  { kind: "integer", cells: ["18446744073709551615"], type: "BYTE_ARRAY UTF8" },
  { kind: "boolean", cells: ["true", undefined, "false"], type: "BOOLEAN" },
  { kind: "boolean", cells: ["true", "maybe"], type: "BYTE_ARRAY UTF8" },
  { kind: "time", cells: ["2026-01-31T08:00:00.123456Z", "0001-01-01T00:00:00Z"], type: "INT64 TIMESTAMP_MICROS" },
  { kind: "time", cells: ["infinity", "2026-01-31T08:00:00Z"], type: "BYTE_ARRAY UTF8" },
  { kind: "time", cells: ["0000-00-00T00:00:00.000000Z"], type: "BYTE_ARRAY UTF8" },
  { kind: "time", cells: ["2026-02-30T00:00:00.000000Z"], type: "BYTE_ARRAY UTF8" },
  { kind: "text", cells: ["", undefined, "𝒳\u0001\r\n"], type: "BYTE_ARRAY UTF8" },
] as const;

for (const [index, { kind, cells, type }] of cases.entries())
  test(`a column of kind ${kind} with ${JSON.stringify(cells)} is ${type}`, async (context) => {
    const file = path.join(await tempFolder(context), `${index}.parquet`);

    const read = await parquet(
      file,
      [
        { name: "c", kind },
        { name: "id", kind: "text" },
      ],
      cells.map((cell, row) => [cell, String(row)]),
    );

    assert.deepEqual([read.count, read.types], [cells.length, [type, "BYTE_ARRAY UTF8"]]);
    const shown = read.rows.map(({ c }) => (c instanceof Date ? c.getTime() : (c ?? undefined)));
    const meant = cells.map((cell) => {
      if (cell === undefined || type.startsWith("BYTE")) return cell;
      if (type === "BOOLEAN") return cell === "true";
      if (type === "DOUBLE") return Number(cell);
      return type === "INT64" ? BigInt(cell) : Date.parse(cell);
    });
    assert.deepEqual(shown, meant);
    assert.deepEqual(
      read.rows.map(({ id }) => id),
      cells.map((_, row) => String(row)),
    );
  });

test("hostile names of columns are names", async (context) => {
  const names = ["a.b", "", "a'b\"c", "x\ny", "ß日本", "list.element", "__proto__x", "n".repeat(63)];
  const file = path.join(await tempFolder(context), "hostile.parquet");

  const read = await parquet(
    file,
    names.map((name) => ({ name, kind: "text" })),
    [names.map((_, place) => String(place))],
  );

  assert.deepEqual(
    Object.entries(read.rows[0] ?? {}).map(([name, value]) => [name, value]),
    names.map((name, place) => [name, String(place)]),
  );
});

test("a number with a million zeros before its last digit is written as text with all of them", async (context) => {
  const cell = `1.${"0".repeat(1_000_000)}1`;

  const read = await parquet(
    path.join(await tempFolder(context), "n.parquet"),
    [{ name: "c", kind: "number" }],
    [[cell]],
  );

  assert.deepEqual([read.types, read.rows], [["BYTE_ARRAY UTF8"], [{ c: cell }]]);
});
