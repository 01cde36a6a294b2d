import assert from "node:assert/strict";
import { test } from "node:test";
import { substitute } from "../../../core/configuration/file/substitution.js";

const env = { HOST: "db", EMPTY: "", ODD: "a${HOST}b" };

const replaced = [
  { text: "plain", expected: "plain" },
  { text: "${env:HOST}", expected: "db" },
  { text: "${HOST}", expected: "db" },
  { text: "x-${env:HOST}-${HOST}-y", expected: "x-db-db-y" },
  { text: "${env:NONE:-other}", expected: "other" },
  { text: "${NONE:-}", expected: "" },
  { text: "${env:HOST:-other}", expected: "db" },
  { text: "${env:EMPTY:-other}", expected: "other" },
  { text: "${EMPTY}", expected: "" },
  { text: "${env:NONE:-${env:NEITHER:-${HOST}}}:1", expected: "db:1" },
  { text: "${ODD}", expected: "a${HOST}b" },
  { text: "$${env:HOST} $$word {x}", expected: "${env:HOST} $$word {x}" },
  { text: "${NONE:-a:-b}", expected: "a:-b" },
];
for (const { text, expected } of replaced) {
  test(`${text} becomes "${expected}"`, () => {
    assert.deepEqual(substitute(text, env), { text: expected, mistakes: [] });
  });
}

const mistaken = [
  { text: "a ${env:NONE} b", expression: "${env:NONE}", reason: /"NONE" is not set: set it|is not set; set it/ },
  { text: "${toString}", expression: "${toString}", reason: /is not set/ },
  { text: "${NONE:-${NEITHER}}", expression: "${NEITHER}", reason: /"NEITHER" is not set/ },
  { text: "${sys:user.home}", expression: "${sys:user.home}", reason: /only .* are replaced/ },
  { text: "${filter['key']}", expression: "${filter['key']}", reason: /only .* are replaced/ },
  { text: "x${HOST", expression: "${HOST", reason: /no closing/ },
];
for (const { text, expression, reason } of mistaken) {
  test(`${text} is a mistake that names ${expression}`, () => {
    const [mistake, ...others] = substitute(text, env).mistakes;

    assert.equal(mistake?.expression, expression);
    assert.match(mistake.reason, reason);
    assert.deepEqual(others, []);
  });
}

test("every mistake of a text is reported", () => {
  assert.equal(substitute("${A} ${B} ${HOST}", env).mistakes.length, 2);
});

test("a text with many thousands of expressions is replaced", () => {
  assert.equal(substitute("${HOST}$${".repeat(50_000), env).text, "db${".repeat(50_000));
});

test("a default within many thousands of others is a mistake", () => {
  const text = `${"${NONE:-".repeat(50_000)}x${"}".repeat(50_000)}`;

  const [mistake] = substitute(text, env).mistakes;

  assert.match(mistake?.reason ?? "", /more than 100 defaults/);
});
