import assert from "node:assert/strict";
import { test } from "node:test";
import { assertStored } from "../../core/testing/expectations.js";

test("of a long list in another order the failure begins where the order changes", () => {
  const wanted = Array.from({ length: 30 }, (_, number) => `m${number}`);
  const stored = [...wanted.slice(0, 20), "m21", "m20", ...wanted.slice(22)];

  const message =
    /in another order than written: after "m19" came "m21", "m20", "m22", .* instead of "m20", "m21", "m22"/;
  assert.throws(() => assertStored(stored, wanted), { code: "NOT_CONFORMING", message });
});
