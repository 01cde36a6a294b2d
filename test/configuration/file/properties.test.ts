import assert from "node:assert/strict";
import { test } from "node:test";
import { parseProperties } from "../../../core/configuration/file/properties.js";

const settings = [
  { says: "an equals sign", text: "a.b = c", expected: [{ key: "a.b", value: "c", line: 1 }] },
  { says: "a colon after a comment", text: "# note\n! note\na.b:c", expected: [{ key: "a.b", value: "c", line: 3 }] },
  { says: "a blank as separator", text: "a.b   c d ", expected: [{ key: "a.b", value: "c d", line: 1 }] },
  {
    says: "a continued line",
    text: "\na.b = c \\\r\n   d\r\ne = f",
    expected: [
      { key: "a.b", value: "c d", line: 2 },
      { key: "e", value: "f", line: 4 },
    ],
  },
  {
    says: "a backslash alone on the first line of an entry, and of a comment",
    text: "\\\n \\\r\na = b\n\\\n# note\nc = \\\n\\\nd",
    expected: [
      { key: "a", value: "b", line: 3 },
      { key: "c", value: "d", line: 6 },
    ],
  },
  { says: "a number sign in a value", text: "a = b # c", expected: [{ key: "a", value: "b # c", line: 1 }] },
  { says: "an escaped letter and UTF-8", text: "a = \\u00e9 é", expected: [{ key: "a", value: "é é", line: 1 }] },
  { says: "a byte order mark", text: "\uFEFFa = b", expected: [{ key: "a", value: "b", line: 1 }] },
  { says: "an empty value", text: "a =", expected: [{ key: "a", value: "", line: 1 }] },
];
for (const { says, text, expected } of settings) {
  test(`${says} is read as Java reads it`, () => {
    const { settings: read, faults } = parseProperties(text);

    assert.deepEqual(read, expected);
    assert.deepEqual(
      faults.filter(({ severity }) => severity === "error"),
      [],
    );
  });
}

test("of a key given twice the last one counts and both lines are named", () => {
  const { settings: read, faults } = parseProperties("a.b = 1\nc = 2\n a.b = 3");

  assert.deepEqual(
    read.map(({ key, value }) => `${key}=${value}`),
    ["c=2", "a.b=3"],
  );
  assert.deepEqual(faults, [
    { severity: "warning", key: "a.b", reason: "is given on lines 1 and 3; the last one counts", line: 3 },
  ]);
});

test("a malformed escape is one fault with its line and the other lines are still read", () => {
  const { settings: read, faults } = parseProperties("a = 1\nb.c = \\u12\nd = 2");

  assert.deepEqual(
    read.map(({ key, line }) => [key, line]),
    [
      ["a", 1],
      ["d", 3],
    ],
  );
  assert.deepEqual(
    faults.map(({ severity, key, line }) => ({ severity, key, line })),
    [{ severity: "error", key: "b.c", line: 2 }],
  );
});

test("a malformed escape in a continued line that looks like a comment is still a fault", () => {
  const { faults } = parseProperties("a = 1 \\\n#\\u12");

  assert.equal(faults.length, 1);
});

test("text that was not UTF-8 is a fault", () => {
  const { faults } = parseProperties(Buffer.from("a = caf\xe9", "latin1").toString("utf8"));

  assert.match(faults[0]?.reason ?? "", /is not UTF-8/);
});
