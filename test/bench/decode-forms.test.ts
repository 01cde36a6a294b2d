import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../../core/ngsi/index.js";
import { brokerPrinted } from "./broker-printed.js";
import { decodeForms } from "./decode-forms.js";
import { decodeTable } from "./decode-table.js";

const forms = decodeForms();

for (const { name, version, headers, bodies } of forms.filter(({ bodies: [body = ""] }) => body.length < 20_000)) {
  test(`the bodies of the form "${name}" differ and are notifications with entities that have attributes`, () => {
    const entities = bodies.flatMap((body) => decode(version, body, headers).entities);

    assert.equal(new Set(bodies).size, bodies.length);
    assert.ok(entities.every(({ attributes }) => attributes.length > 0));
  });
}

test("JSON is printed as Scorpio prints it", () => {
  const json = { id: "x", data: [{ a: { value: [1, 2], none: [] } }], empty: {} };

  assert.equal(
    brokerPrinted(json),
    [
      "{",
      '  "id" : "x",',
      '  "data" : [ {',
      '    "a" : {',
      '      "value" : [ 1, 2 ],',
      '      "none" : [ ]',
      "    }",
      "  } ],",
      '  "empty" : { }',
      "}",
    ].join("\n"),
  );
});

test("the table has medians and ratios, and the cheapest form is a common one", () => {
  const form = { version: "ld", headers: {}, bodies: ["x".repeat(100)] } as const;
  const measured = [
    { form: { ...form, name: "dear", isCommon: true }, parse: [1, 2, 3], decode: [[6, 4, 5]] },
    { form: { ...form, name: "cheap", isCommon: true }, parse: [2, 2, 2], decode: [[2, 3, 2.5], [7]] },
    { form: { ...form, name: "rare", isCommon: false }, parse: [2], decode: [[1]] },
  ];

  const [, , dear, cheap, rare] = decodeTable(measured).split("\n");

  assert.equal(dear, "| dear | 100 | 20.00 | 50.00 | 5.0 (4.0-6.0) | 2.50 | 2.00 |  |");
  assert.equal(cheap, "| cheap | 100 | 20.00 | 25.00 | 2.5 (2.0-3.0) | 1.25 | 1.00 | 7.0 (7.0-7.0) |");
  assert.equal(rare, "| rare | 100 | 20.00 | 10.00 | 1.0 (1.0-1.0) | 0.50 |  |  |");
});
