import assert from "node:assert/strict";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { exitCodes } from "../../core/cli/command.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { tool, without } from "./tool.js";

const unit = path.join(repositoryRoot, "deploy", "systemd", "deneb.service");
const text = await readFile(unit, "utf8");
/** How a line about a file of another unit begins. */
const OTHER_UNIT = /^\/\S+\.\w+:\d+: /;
const skip = await without(["systemd-analyze"]);

test("systemd finds nothing wrong with the unit", { skip }, async (t) => {
  const copy = path.join(await tempFolder(t), "deneb.service");
  // The program need not be installed on this machine.
  await writeFile(copy, text.replace("/usr/bin/deneb", process.execPath));

  await faults(copy);

  await writeFile(copy, (await readFile(copy, "utf8")).replace("Type=exec", "Type=exact"));
  await assert.rejects(faults(copy));
});

test("by the measure of systemd the unit is exposed by 1.5 of 10 at most", { skip }, async (t) => {
  const copy = path.join(await tempFolder(t), "deneb.service");
  await copyFile(unit, copy);

  // It fails when the exposure, in tenths, is above the threshold.
  await tool("systemd-analyze", ["security", "--offline=true", "--threshold=15", copy]);
  await assert.rejects(tool("systemd-analyze", ["security", "--offline=true", "--threshold=10", copy]));
});

test("the unit does not start an agent again whose configuration or data directory does not let it", () => {
  const prevented = /^RestartPreventExitStatus=(.*)$/m.exec(text)?.[1]?.split(" ").map(Number);

  assert.deepEqual(prevented, [exitCodes.badInput, exitCodes.folderInUse]);
  assert.match(text, /^Restart=on-failure$/m);
});

test("the unit gives a stop more time than the agent takes by default", () => {
  const seconds = Number(/^TimeoutStopSec=(\d+)s$/m.exec(text)?.[1]);

  assert.ok(seconds > 30);
});

test("the unit leaves workers the time to stop in order, also when their supervisor was killed", () => {
  // With "mixed" what is left of the processes is killed as soon as the first one has ended.
  assert.match(text, /^KillMode=control-group$/m);
});

/** systemd 252 warns of what it does not know, and ends with 0. It reads other units of the machine, too, and says what is wrong with them. */
async function faults(file: string): Promise<void> {
  const said = await tool("sh", ["-c", 'systemd-analyze verify --man=no "$1" 2>&1', "sh", file]);
  const own = said.split("\n").filter((line) => line !== "" && (line.includes(file) || !OTHER_UNIT.test(line)));
  if (own.length > 0) throw new Error(own.join("\n"));
}
