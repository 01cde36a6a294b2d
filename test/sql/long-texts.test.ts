import assert from "node:assert/strict";
import { test } from "node:test";
import { instantOf } from "../../core/sql/features/last-data/comparable-times.js";
import { Admission } from "../../core/sql/rows/admission.js";

// An expression that takes time with the square of a text needs minutes for these.
const MANY = 1_000_000;
const schema = { database: "city", schema: "city" };
const at = (service: string) => ({ service, servicePath: "/", api: "ld" as const });

test("a service with a million blanks between two letters is compared with the allowed ones", () => {
  const admission = new Admission({ allowed_services: ["é"], protected_schemas: [] });
  const service = `é${" ".repeat(MANY)}x`;

  assert.throws(() => admission.check(at(service), schema), { code: "SERVICE_NOT_ALLOWED" });
});

test("blanks before an invisible character at the end of a service are not compared", () => {
  const admission = new Admission({ allowed_services: ["é"], protected_schemas: [] });

  admission.check(at("E\u0301  \u200b "), schema);
});

test("a time with a million zeros before the last digit of its fraction is ordered by all of its digits", () => {
  const fraction = `.${"0".repeat(MANY)}1`;

  assert.equal(instantOf(`2026-01-01T00:00:00${fraction}000Z`), `2026-01-01T00:00:00${fraction}`);
  assert.equal(instantOf("2026-01-01T00:00:00.1200Z"), "2026-01-01T00:00:00.12");
  assert.equal(instantOf("2026-01-01T00:00:00.000Z"), "2026-01-01T00:00:00");
});
