import assert from "node:assert/strict";
import { resolve } from "node:path";
import test from "node:test";
import { closingLine, Levels, Tally, type TestResult } from "./tally.js";

const file = resolve("some.test.js");
const crashed = { failureType: "testCodeFailure" };
const failedBelow = { failureType: "subtestsFailed" };

const cases: readonly {
  readonly title: string;
  readonly passed?: readonly TestResult[];
  readonly failed?: readonly TestResult[];
  readonly line: string;
}[] = [
  { title: "a test counts once", passed: [result("a", 0)], line: "1 passed, 0 failed, 0 skipped" },
  {
    title: "of a test with subtests only the subtests count",
    passed: [result("child", 1), result("other child", 1), result("parent", 0)],
    line: "2 passed, 0 failed, 0 skipped",
  },
  {
    title: "a test after a suite is a leaf again",
    passed: [result("in suite", 1), result("suite", 0, { type: "suite" }), result("after", 0)],
    line: "2 passed, 0 failed, 0 skipped",
  },
  {
    title: "a skipped test is counted by name and not as passed",
    passed: [{ ...result("a", 0), skip: "PostgreSQL is not reachable" }],
    line: "0 passed, 0 failed, 1 skipped",
  },
  {
    title: "a parent that failed only because a subtest did is not counted again",
    failed: [result("child", 1, { error: crashed }), result("parent", 0, { error: failedBelow })],
    line: "0 passed, 1 failed, 0 skipped",
  },
  {
    title: "a suite whose own hook failed is a failure",
    passed: [result("child", 1)],
    failed: [result("suite", 0, { type: "suite", error: { failureType: "hookFailed" } })],
    line: "1 passed, 1 failed, 0 skipped",
  },
  {
    title: "a file that crashes outside of its tests is a failure",
    passed: [result("a", 0)],
    failed: [result(file, 0, { error: crashed })],
    line: "1 passed, 1 failed, 0 skipped",
  },
  { title: "a file without a test is a failure", passed: [result(file, 0)], line: "0 passed, 1 failed, 0 skipped" },
];

for (const { title, passed = [], failed = [], line } of cases)
  test(title, () => {
    const tally = new Tally([file]);

    const levels = new Levels();
    for (const one of passed) tally.passed(one, levels);
    for (const one of failed) tally.failed(one, levels);

    assert.equal(closingLine(tally), line);
  });

test("a failure says why, in as many lines as fit", () => {
  const tally = new Tally([file]);
  const cause = new Error(`Property failed\n\n{ seed: 7 }\n${"x\n".repeat(100)}`);

  const levels = new Levels();
  tally.failed(result("a", 0, { error: Object.assign(new Error("of node:test", { cause }), crashed) }), levels);
  tally.failed(result("b", 0, { error: Object.assign(new Error("'test did not finish'"), crashed) }), levels);

  const [a, b] = tally.failures;
  assert.deepEqual(a?.reason.slice(0, 3), ["Property failed", "{ seed: 7 }", "x"]);
  assert.equal(a?.reason.length, 30);
  assert.deepEqual(b, { name: "b", reason: ["'test did not finish'"] });
});

test("what runs beside others is counted as if it ran alone", () => {
  const tally = new Tally([]);
  const [one, other] = [new Levels(), new Levels()];

  tally.passed(result("child", 1), one);
  tally.passed(result("leaf", 0), other);
  tally.passed(result("parent", 0), one);
  tally.passed(result("leaf", 0), other);

  assert.equal(closingLine(tally), "3 passed, 0 failed, 0 skipped");
});

function result(name: string, nesting: number, details: TestResult["details"] = {}): TestResult {
  return { name, nesting, details };
}
