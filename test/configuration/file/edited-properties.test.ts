import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutProperty, withProperty } from "../../../core/configuration/file/edited-properties.js";
import { parseProperties } from "../../../core/configuration/file/properties.js";

const texts = [
  "",
  "a.b=1",
  "a.b=1\n",
  "# c\\",
  "x = \\",
  "x = 1 \\\n",
  "x = 1\\\n  \n",
  "k=1\nk=2\n",
  "\n\n",
  "x : 1\r\n! c\r\n",
];
const values = ["v", "\\", "a\\", "#x", "=:! x", "é\\u00e9 \u{1f600}", "${env:A}", "\\n"];

for (const text of texts)
  test(`any value that is written into ${JSON.stringify(text)} is read again, and nothing else changes`, () => {
    for (const key of ["new.key", "k", "x"])
      for (const value of values) {
        const written = withProperty(text, key, value);

        const { settings, faults } = parseProperties(written);
        const read = new Map(settings.map((setting) => [setting.key, setting.value]));
        assert.equal(read.get(key), value, `${key}: ${JSON.stringify(written)}`);
        assert.deepEqual(others(written, key), others(text, key));
        assert.deepEqual(
          faults.filter(({ severity }) => severity === "error"),
          [],
        );
        assert.deepEqual(others(withoutProperty(written, key), key), others(text, key));
        assert.ok(!keysOf(withoutProperty(written, key)).includes(key));
      }
  });

for (const text of ["k=1\r\n", "k=1\r\nx=2", "k=1\r\nx=\\"])
  test(`what is added to ${JSON.stringify(text)} ends its lines as the others do`, () => {
    assert.doesNotMatch(withProperty(text, "new.key", "v"), /(?<!\r)\n|(?<!\n)$/);
  });

function keysOf(text: string): readonly string[] {
  return parseProperties(text).settings.map(({ key }) => key);
}

function others(text: string, but: string): readonly string[] {
  const { settings } = parseProperties(text);
  return settings.filter(({ key }) => key !== but).map(({ key, value }) => `${key}=${value}`);
}
