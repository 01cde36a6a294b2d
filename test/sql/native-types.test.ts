import assert from "node:assert/strict";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { type Given, v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const native = { attr_native_types: true, attr_metadata_store: false } as const;
const body = (a: Given, type = "Number") => v2Entity("e", v2Attribute("a", type, a));
/** An attribute whose value is this JSON text, not read before. */
const structured = (text: string) =>
  ({ ...v2Attribute("a", "StructuredValue", {}), value: { kind: "object", text } }) as const;
/** Without what databases write differently. */
const plain = (cell: string | undefined) =>
  cell
    ?.replace(/^t$/, "1")
    .replace("T", " ")
    .replace(/(\.\d*?)0+$/, "$1");

const kept = [
  { name: "a number", value: 23.5, expression: "a + 1", result: "24.5" },
  { name: "a negative number", value: -1e3, expression: "a + 1", result: "-999" },
  { name: "a boolean", value: true, expression: "a AND a", result: "1" },
] as const;

await onEveryDatabase("native types", [
  ...(kept.map(({ name, value, expression, result }, index) => ({
    name: `${name} can be reckoned with`,
    service: `reckon${index}`,
    run: async (place, service) => {
      await persist(await place.sink(native), v2Event(body(value), service));

      const rows = await place.select(service, "e_t", `SELECT ${expression} AS x FROM @`);
      assert.equal(plain(rows[0]?.["x"]), result);
    },
  })) satisfies Parameters<typeof onEveryDatabase>[1]),
  {
    name: "times are in UTC and compare as times",
    service: "times",
    run: async (place, service) => {
      const sink = await place.sink(native);

      for (const time of [
        "2020-05-13T13:00:00.5+02",
        "2020-05-13T10:00:00.123Z",
        "2020-05-13T12:00:00+03:00",
        "2020-05-13",
      ]) {
        await persist(sink, v2Event(body(time, "DateTime"), service));
      }

      const rows = await place.select(service, "e_t", "SELECT a FROM @ ORDER BY a");
      assert.deepEqual(
        rows.map(({ a }) => a?.replace("T", " ").slice(0, 19)),
        ["2020-05-13 00:00:00", "2020-05-13 09:00:00", "2020-05-13 10:00:00", "2020-05-13 11:00:00"],
      );
    },
  },
  {
    name: "times before the year 1 and after 9999 in UTC are beside their column",
    service: "years",
    run: async (place, service) => {
      const times = [
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-05:00",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
      ];
      const sink = await place.sink(native);

      await persist(sink, ...times.map((time) => v2Event(body(time, "DateTime"), service)));

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.map((row) => row["a$json"] ?? row["a"]?.slice(0, 10)),
        [...times.slice(0, 3).map((time) => JSON.stringify(time)), "0001-01-01"],
      );
    },
  },
  {
    name: "a time on a day that its month does not have stays a text",
    service: "days",
    run: async (place, service) => {
      const [leap, none] = ["2024-02-29T10:00:00Z", "2026-02-30T10:00:00Z"] as const;
      const sink = await place.sink(native);

      await persist(
        sink,
        v2Event(body(leap, "DateTime"), service),
        v2Event(v2Entity("f", v2Attribute("a", "DateTime", none)), service),
      );
      await persist(sink, v2Event(body(none, "DateTime"), service));

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.map((row) => row["a$json"] ?? row["a"]?.slice(0, 10)),
        ["2024-02-29", JSON.stringify(none)],
      );
      assert.equal((await place.rows(service, "f_t"))[0]?.["a"], none);
    },
  },
  {
    name: "createdAt, modifiedAt, deletedAt and expiresAt of an entity are times, its scope is text",
    service: "ofentity",
    run: async (place, service) => {
      const createdAt = "2026-11-22T07:06:02.669000Z";
      const members = { createdAt, modifiedAt: createdAt, deletedAt: createdAt, expiresAt: createdAt, scope: "/a/b" };

      await persist(await place.sink(native), ldEvent("e", members, service));
      await persist(await place.sink(), ldEvent("f", members, service));

      const [row = {}] = await place.rows(service, "e");
      for (const column of ["createdat", "modifiedat", "deletedat", "expiresat"])
        assert.match(row[column] ?? "", /^2026-11-22[ T]07:06:02\.669/);
      assert.equal(row["scope"], "/a/b");
      const [texts = {}] = await place.rows(service, "f");
      assert.deepEqual([texts["createdat"], texts["expiresat"], texts["scope"]], [createdAt, createdAt, "/a/b"]);
    },
  },
  {
    name: "times of an entity are stored in the text columns of an earlier version, and in typed ones of others",
    service: "earlier",
    run: async (place, service) => {
      const createdAt = "2026-11-22T07:06:02.669Z";
      await persist(await place.sink(), ldEvent("e", { createdAt, modifiedAt: createdAt }, service));

      await persist(await place.sink(native), ldEvent("e", { createdAt, modifiedAt: createdAt }, service));
      await persist(await place.sink(native), ldEvent("f", { createdAt }, service));
      await persist(await place.sink(), ldEvent("f", { createdAt }, service));

      assert.deepEqual(
        (await place.rows(service, "e")).map((row) => row["createdat"]),
        [createdAt, createdAt],
      );
      const typed = await place.rows(service, "f");
      assert.equal(typed[0]?.["createdat"], typed[1]?.["createdat"]);
    },
  },
  {
    name: "objects are JSON",
    service: "objects",
    run: async (place, service) => {
      await persist(await place.sink(native), v2Event(body({ a: 1, b: [null, "x"] }, "StructuredValue"), service));

      const [row = {}] = await place.rows(service, "e_t");
      assert.deepEqual(JSON.parse(row["a"] ?? ""), { a: 1, b: [null, "x"] });
    },
  },
  {
    name: "JSON with escaped characters that a column cannot hold is kept as JSON text beside it",
    service: "nulljson",
    run: async (place, service) => {
      const sink = await place.sink(native);
      const values = [{ b: "first\u0000" }, { b: 1 }, { b: "x\u0000y" }, { "k\u0000": [1] }, ["\\u0000"]];

      for (const value of values) await persist(sink, v2Event(body(value, "StructuredValue"), service));

      const rows = await place.rows(service, "e_t");
      const stored = rows.map((row) => JSON.parse(row["a"] ?? row["a$json"] ?? "null"));
      assert.deepEqual(stored, values);
    },
  },
  {
    name: "JSON with a number that no column holds is kept as JSON text beside it, the same digits in a text are not",
    service: "hugejson",
    run: async (place, service) => {
      const sink = await place.sink(native);
      const texts = ['{"b":[1e200000]}', '{"b":"x","c":-1.5E-20000}', '{"b":["a:1e200000\\""]}'];

      for (const text of texts) await persist(sink, v2Event(v2Entity("e", structured(text)), service));

      const rows = await place.rows(service, "e_t");
      const plainJson = (json: string | undefined) => json?.replaceAll(/\s/g, "");
      assert.deepEqual(
        rows.map((row) => plainJson(row["a"] ?? row["a$json"])),
        texts,
      );
      assert.equal(plainJson(rows[2]?.["a"]), texts[2]);
    },
  },
  {
    name: "JSON that is deeper, or has longer names or numbers, than a column holds is kept as JSON text beside it",
    service: "largejson",
    run: async (place, service) => {
      const sink = await place.sink(native);
      const nested = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
      const numbers = ["[1.2345678901234567890123]", "[12345678901234567890123]"];
      const others = ["[18446744073709551615,-9223372036854775808]", '["1.2345678901234567890123"]', nested(31)];
      const texts = [nested(32), nested(101), nested(400), ...numbers, ...others, `{"${"ä".repeat(33_000)}":1}`];

      for (const text of texts) await persist(sink, v2Event(v2Entity("e", structured(text)), service));

      const rows = await place.rows(service, "e_t");
      const plainJson = (json: string | undefined) => json?.replaceAll(/\s/g, "");
      assert.deepEqual(
        rows.map((row) => plainJson(row["a"] ?? row["a$json"])),
        texts,
      );
      const kept = rows.map((row) => row["a"]);
      assert.deepEqual(kept.slice(5, 8).map(plainJson), others);
    },
  },
  {
    name: "JSON with an escaped NUL replaces the value before in last data, and the next value replaces it",
    service: "nulllast",
    run: async (place, service) => {
      const sink = await place.sink({ ...native, last_data_mode: "both" });
      const cellsAfter = async (value: Given, later: number) => {
        await persist(sink, v2Event(body(value, "StructuredValue"), service, { later }));
        const [row = {}] = await place.rows(service, "e_t_last_data");
        return [row["a"], row["a$json"]].flatMap((cell) => (cell === undefined ? [] : [JSON.parse(cell)]));
      };

      assert.deepEqual(await cellsAfter({ b: 1 }, 0), [{ b: 1 }]);
      assert.deepEqual(await cellsAfter({ b: "\u0000" }, 1), [{ b: "\u0000" }]);
      assert.deepEqual(await cellsAfter({ b: 2 }, 2), [{ b: 2 }]);
    },
  },
  {
    name: "a value that does not fit its column goes as JSON beside it, also after a restart",
    service: "misfits",
    run: async (place, service) => {
      await persist(await place.sink(native), v2Event(body(1), service));
      const restarted = await place.sink(native);

      for (const value of ["off", { b: 1 }, 2, true, undefined])
        await persist(restarted, v2Event(body(value), service));

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.map(({ a }) => a),
        ["1", undefined, undefined, "2", undefined, undefined],
      );
      assert.deepEqual(
        rows.map((row) => row["a$json"]),
        [undefined, '"off"', '{"b":1}', undefined, "true", undefined],
      );
    },
  },
  {
    name: "a text with leading zeros is no number for a column of numbers",
    service: "zeros",
    run: async (place, service) => {
      const sink = await place.sink(native);

      for (const value of [28001, "08001", "-007", "00", "0.5"]) await persist(sink, v2Event(body(value), service));

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.map((row) => row["a$json"] ?? row["a"]),
        ["28001", '"08001"', '"-007"', '"00"', "0.5"],
      );
    },
  },
  {
    name: "a text that a column of numbers would give back otherwise is beside it, the same number is in it",
    service: "spellings",
    run: async (place, service) => {
      const sink = await place.sink(native);
      const digits = (text: string) => ({ ...v2Attribute("a", "Number", 1), value: { kind: "number", text } }) as const;

      await persist(sink, v2Event(body(7), service));
      for (const text of ["12E4", "1e-3", "-0", "-0.0", "12", "-1.5"])
        await persist(sink, v2Event(body(text), service));
      for (const text of ["12E4", "-0"]) await persist(sink, v2Event(v2Entity("e", digits(text)), service));

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.map((row) => row["a$json"] ?? Number(row["a"]) + 0),
        [7, '"12E4"', '"1e-3"', '"-0"', '"-0.0"', 12, -1.5, 120_000, 0],
      );
    },
  },
  {
    name: "zeros at the end of a text are kept, in a column of numbers or beside it",
    service: "endingzeros",
    run: async (place, service) => {
      const sink = await place.sink(native);

      for (const value of [7, "1.50", "2.0"]) await persist(sink, v2Event(body(value), service));

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.map((row) => (row["a$json"] ?? row["a"])?.replaceAll('"', "")),
        ["7", "1.50", "2.0"],
      );
    },
  },
  {
    name: "an attribute that was null first gets its type from its first value",
    service: "nullfirst",
    run: async (place, service) => {
      const sink = await place.sink(native);

      for (const value of [undefined, 5]) await persist(sink, v2Event(body(value), service));

      const rows = await place.select(service, "e_t", "SELECT a + 1 AS x FROM @ WHERE a > 4");
      assert.deepEqual(
        rows.map(({ x }) => x),
        ["6"],
      );
    },
  },
  {
    name: "values of different types in the first batch get a text column",
    service: "disagreeing",
    run: async (place, service) => {
      await persist(await place.sink(native), v2Event(body(1), service), v2Event(body("off"), service));

      assert.deepEqual(
        (await place.rows(service, "e_t")).map(({ a }) => a),
        ["1", "off"],
      );
    },
  },
  {
    name: "no digit of a number is lost, in whichever column it is",
    service: "digits",
    run: async (place, service) => {
      const sink = await place.sink(native);
      const digits = ["1", "9007199254740993", "0.1234567890123456789012", "1e3"];

      for (const text of digits) {
        const exact = { ...v2Attribute("a", "Number", 0), value: { kind: "number", text } } as const;
        await persist(sink, v2Event(v2Entity("e", exact), service));
      }

      const stored = (await place.rows(service, "e_t")).map((row) => row["a"] ?? row["a$json"]);
      assert.deepEqual([stored[0], stored[1], stored[2]], [digits[0], digits[1], digits[2]]);
      assert.equal(Number(stored[3]), 1000);
    },
  },
  {
    name: "typed columns of an existing table are filled, with attr_native_types or without",
    service: "provisioned",
    run: async (place, service) => {
      await persist(
        await place.sink({ attr_metadata_store: false }),
        v2Event(v2Entity("e", v2Attribute("x", "T", "1")), service),
      );
      await place.alter(service, "e_t", "ALTER TABLE @ ADD COLUMN n double precision");
      await place.alter(service, "e_t", "ALTER TABLE @ ADD COLUMN b boolean");
      const attributes = [v2Attribute("n", "Number", "112.9"), v2Attribute("b", "Boolean", true)];

      for (const attr_native_types of [false, true]) {
        const sink = await place.sink({ attr_native_types, attr_metadata_store: false });
        await persist(sink, v2Event(v2Entity("e", ...attributes), service));
      }

      const rows = await place.rows(service, "e_t");
      assert.deepEqual(
        rows.slice(1).map(({ n, b }) => [n, plain(b)]),
        [
          ["112.9", "1"],
          ["112.9", "1"],
        ],
      );
    },
  },
]);
