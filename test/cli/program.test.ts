import assert from "node:assert/strict";
import test from "node:test";
import { kernelProperties } from "../../core/configuration/schema/kernel-properties.js";
import { type KernelProperty, optionName } from "../../core/configuration/schema/kernel-property.js";
import { command } from "../support/command.js";

const properties: readonly KernelProperty[] = Object.values(kernelProperties);
const names = [
  "init",
  "run",
  "check",
  "migrate",
  "plugins",
  "sql",
  "tables",
  "docs",
  "dead-letters",
  "verify",
  "erase",
  "export",
  "plugin",
  "explain",
  "completion",
];

test("the help of the program lists every command", async () => {
  const { exitCode, out } = await command(["--help"]);

  assert.equal(exitCode, 0);
  assert.deepEqual(
    [...out.matchAll(/^ {2}([a-z-]+) .*$/gm)].map(([, name]) => name),
    [...names, "help"],
  );
});

for (const name of names)
  test(`the help of ${name} is the same by --help and by help, and lists what it takes`, async () => {
    const byOption = await command([name, "--help"]);
    const byCommand = await command(["help", name]);

    assert.equal(byOption.exitCode, 0);
    assert.equal(byOption.out, byCommand.out);
    assert.match(byOption.out, /^(?:Options|Commands|Arguments):\n {2}(?!-h)/m);
  });

test("run takes the option of every kernel setting, and a fault names the option", async () => {
  const checked = properties.flatMap(({ option, format }) =>
    option === undefined || format === "text" || format === "words" ? [] : [optionName(option)],
  );

  const { exitCode, err } = await command(["run", "-f", "none", ...checked.flatMap((option) => [option, "#"])]);

  assert.equal(exitCode, 2);
  assert.deepEqual(
    err.split("\n").map((line) => line.split(" = ", 1).join()),
    checked.map((option) => `error: ${option}`),
  );
});

test("run describes each of its settings as the reference does", async () => {
  const { out } = await command(["run", "--help"]);

  const text = out.replaceAll(/\s+/g, " ");
  for (const { option, doc } of properties)
    assert.equal(text.includes(doc.replaceAll(/\s+/g, " ")), option !== undefined);
});

test("a value that is the name of another command is a value", async () => {
  const { exitCode, err } = await command(["check", "-f", "none.properties", "--name", "sql"]);

  assert.equal(exitCode, 2);
  assert.match(err, /--config = "none.properties": could not be read/);
});

test("an unknown command is bad input, with the nearest one", async () => {
  const { exitCode, err } = await command(["chekc"]);

  assert.equal(exitCode, 2);
  assert.match(err, /unknown command 'chekc'\n.*check/);
});

for (const args of [
  ["sql", "--plugins", "mine", "select 1"],
  ["explain", "--config", "agent.properties", "--plugin-packages", "deneb-plugin-mine", "notification.json"],
])
  test(`${args[0]} whose argument is read as one more plugin says so, and where to write it`, async () => {
    const { exitCode, err } = await command(args);

    assert.equal(exitCode, 2);
    assert.match(err, /missing required argument '\w+'; --plugin\S+ takes everything up to the next option: write/);
  });

test("an argument that is missing without a list before it is reported without advice about lists", async () => {
  const { err } = await command(["sql", "--config", "agent.properties"]);

  assert.equal(err, "error: missing required argument 'query'");
});
