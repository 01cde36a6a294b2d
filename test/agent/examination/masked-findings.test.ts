import assert from "node:assert/strict";
import { test } from "node:test";
import { maskedFindings } from "../../../core/agent/examination/masked-findings.js";
import type { Finding } from "../../../core/agent/examination/probe-runs.js";
import sink from "../../../plugins/rdb-sink/index.js";

function finding(text: string): Finding {
  const examinee = { component: "s", kind: "sink", type: "rdb" };
  return { ...examinee, tried: text, outcome: "failed", reason: text, remedy: text, milliseconds: 1 };
}

function shown(text: string, config: Readonly<Record<string, unknown>>) {
  const [{ tried, reason, remedy } = finding("")] = maskedFindings([finding(text)], { definition: sink, config });
  return [...new Set([tried, reason, remedy])];
}

const cases = [
  {
    what: "a password that a server repeats is masked",
    config: { rdb_username: "agent", rdb_password: "p.ss" },
    text: 'user "agent" with p.ss, not with pass',
    shows: 'user "agent" with ***, not with pass',
  },
  {
    what: "the name of a user that is the password, too, is shown",
    config: { rdb_username: "postgres", rdb_password: "postgres" },
    text: 'log in as "postgres"',
    shows: 'log in as "postgres"',
  },
  {
    what: "a password that is a part of a setting is shown there, and masked elsewhere",
    config: { rdb_database: "city_data", rdb_username: "agent", rdb_password: "city" },
    text: "city_data refuses city",
    shows: "city_data refuses ***",
  },
  {
    what: "a short password masks no words",
    config: { rdb_username: "agent", rdb_password: "in" },
    text: "log in",
    shows: "log in",
  },
];

for (const { what, config, text, shows } of cases)
  test(`of what a probe says: ${what}`, () => assert.deepEqual(shown(text, config), [shows]));
