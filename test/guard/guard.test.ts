import assert from "node:assert/strict";
import { test } from "node:test";
import { needsPostgresql } from "../bench/needs-postgresql.js";
import { bounds } from "./bounds.js";
import { guardCases } from "./guard-case.js";
import { guardRun } from "./guard-run.js";
import { faultsOf, gainsOf, leastOf } from "./judge.js";

/** What the clock adds in one run, such as a save of the ledger, is not in all of them. */
const MORE_RUNS = 2;

for (const one of guardCases)
  test(`1,000 notifications cost no more than they did: ${one.name}`, async (context) => {
    if (await needsPostgresql(context)) return;

    const was = bounds[one.name] ?? {};
    let counts = await guardRun(one);
    for (let more = 0; more < MORE_RUNS && faultsOf(one.name, counts, was).length > 0; more += 1) {
      counts = leastOf(counts, await guardRun(one));
    }

    for (const gain of gainsOf(counts, was)) context.diagnostic(`lower the bound: ${gain}`);
    assert.deepEqual(faultsOf(one.name, counts, was), []);
  });
