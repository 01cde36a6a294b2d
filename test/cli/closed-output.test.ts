import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { main } from "../support/run-cli.js";

for (const output of ["stdout", "stderr"] as const)
  test(`a command whose ${output} is closed by its reader ends as if it were read`, async () => {
    const args = output === "stdout" ? ["check", "--help"] : ["check", "--no-such-option"];
    const child = spawn(process.execPath, [main, ...args]);
    child[output].destroy();
    const other = output === "stdout" ? child.stderr : child.stdout;
    let said = "";
    other.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });

    const [code] = await once(child, "close");

    assert.deepEqual([code, said], [output === "stdout" ? 0 : 2, ""]);
  });
