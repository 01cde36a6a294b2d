import assert from "node:assert/strict";
import { test } from "node:test";
import { TextPattern } from "../../../core/ngsi/index.js";
import { codeOf } from "../../../core/sdk/index.js";

test("an expression is found anywhere, or compared with the whole text", () => {
  const pattern = new TextPattern("b+");

  assert.deepEqual([pattern.isIn("abbc"), pattern.isAll("abbc"), pattern.isAll("bb")], [true, false, true]);
});

test("the first match gives its groups, undefined for one that took no part", () => {
  const pattern = new TextPattern("(a)(x)?(b)");

  assert.deepEqual(pattern.groups("ab ab"), ["ab", "a", undefined, "b"]);
  assert.equal(pattern.groups("ba"), undefined);
});

const replacements = [
  { pattern: "(?P<first>\\w)(\\w)", by: "$2${first}", text: "ab cd", result: "ba dc" },
  { pattern: "b", by: "\\$1", text: "abc", result: "a$1c" },
  { pattern: "(\\d)", by: "<$123>", text: "a7", result: "a<723>" },
  { pattern: "(a)(b)", by: "$02$0", text: "ab", result: "bab" },
  { pattern: "b", by: "", text: "abcb", result: "ac" },
  { pattern: "x*", by: "-", text: "ab", result: "-a-b-" },
  { pattern: "z", by: "-", text: "ab", result: "ab" },
] as const;
for (const { pattern, by, text, result } of replacements)
  test(`"${pattern}" replaced by "${by}" makes "${result}" of "${text}"`, () => {
    assert.equal(new TextPattern(pattern).replacer(by)(text), result);
  });

test("a group that is not there is refused before anything is replaced", () => {
  assert.throws(
    () => new TextPattern("(a)").replacer("$2"),
    (error) => codeOf(error) === "INVALID_TEMPLATE",
  );
});
