import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { command } from "../support/command.js";
import { installedProgram } from "../support/installed-program.js";
import { tempFolder } from "../support/temp-folder.js";

/** Words typed, the last one incomplete, and what is offered for it. */
const cases: readonly { readonly typed: readonly string[]; readonly offered: readonly string[] }[] = [
  { typed: ["ch"], offered: ["check"] },
  { typed: ["dead-letters", "re"], offered: ["replay"] },
  { typed: ["dead-letters", ""], offered: ["drop", "list", "replay", "show"] },
  { typed: ["dead-letters", "list", "--sin"], offered: ["--since", "--sink"] },
  { typed: ["run", "--log-l"], offered: ["--log-level"] },
  { typed: ["run", "--log-level", ""], offered: ["debug", "error", "info", "warn"] },
  { typed: ["run", "--config", "run", "--log-format", "p"], offered: ["pretty"] },
  { typed: ["run", "--broker-verify-tls", "t"], offered: ["true"] },
  { typed: ["plugin", "new", "so"], offered: ["source"] },
  { typed: ["completion", ""], offered: ["bash", "fish", "zsh"] },
  { typed: ["init", "--database", "m"], offered: ["mysql"] },
  { typed: ["nonsense", "--"], offered: ["--help", "--version"] },
];

interface Shell {
  readonly name: "bash" | "zsh" | "fish";
  /** Prints what is offered, one word a line; the first argument is the file of the script, the others what is typed. */
  readonly ask: readonly string[];
  readonly check: readonly string[];
}

const shells: readonly Shell[] = [
  {
    name: "bash",
    check: ["-n"],
    ask: [
      "--norc",
      "--noprofile",
      "-c",
      'source "$1"; shift; COMP_WORDS=(deneb "$@"); COMP_CWORD=$#; _deneb; printf "%s\\n" "${COMPREPLY[@]}"',
      "bash",
    ],
  },
  {
    name: "zsh",
    check: ["-n"],
    // Its functions for completion only work while somebody types: here they print.
    ask: [
      "-f",
      "-c",
      `compdef() {}; _describe() { print -l -- "\${(@)\${(P@)argv[-1]}%%:*}" }; compadd() { print -l -- "\${@[2,-1]}" }
       _files() { print -- "files $*" }; _message() { print -- "no words" }
       source "$1"; shift; words=(deneb "$@"); CURRENT=$(($# + 1)); PREFIX="\${@[-1]}"; _deneb`,
      "zsh",
    ],
  },
  {
    name: "fish",
    check: ["--no-execute"],
    ask: ["--no-config", "-c", 'source $argv[1]; complete -C "deneb $argv[2..]"'],
  },
];

for (const { name, ask, check } of shells) {
  const program = await installedProgram(name);
  const skip = program === undefined && `${name} is not installed`;

  test(`${name} reads its script without a fault`, { skip }, async (context) => {
    const { code, output } = await ran(program, [...check, await scriptFor(context, name)]);

    assert.deepEqual([code, output], [0, ""]);
  });

  for (const { typed, offered } of cases)
    test(`${name} completes "deneb ${typed.join(" ")}"`, { skip }, async (context) => {
      const { output } = await ran(program, [...ask, await scriptFor(context, name), ...typed]);

      const words = output.split("\n").flatMap((line) => line.split("\t", 1));
      const last = typed.at(-1) ?? "";
      assert.deepEqual(words.filter((word) => word !== "" && word.startsWith(last)).toSorted(), offered);
    });
}

const bash = await installedProgram("bash");
const noBash = bash === undefined && "bash is not installed";

test("in bash a folder is completed with folders, a file as bash does, and a text with nothing", {
  skip: noBash,
}, async (context) => {
  const folder = await tempFolder(context);
  await mkdir(path.join(folder, "a folder"));
  await writeFile(path.join(folder, "a file"), "");
  const script = await scriptFor(context, "bash");
  const ask = (typed: readonly string[]) => ran(bash, [...(shells[0]?.ask ?? []), script, ...typed], folder);

  assert.equal((await ask(["run", "--data-dir", "a"])).output, "a folder\n");
  assert.equal((await ask(["run", "--config", "a"])).output, "\n");
  assert.equal((await ask(["run", "--name", "a"])).output, "\n");
});

test("in bash the value behind an equals sign is completed, and what stands behind a word of another shell is not run", {
  skip: noBash,
}, async (context) => {
  const folder = await tempFolder(context);
  const script = await scriptFor(context, "bash");
  const ask = (typed: readonly string[]) => ran(bash, [...(shells[0]?.ask ?? []), script, ...typed], folder);

  assert.equal((await ask(["run", "--log-format", "=", "j"])).output, "json\n");
  assert.equal((await ask(["run", "--log-format", "="])).output, "auto\njson\npretty\n");
  assert.equal((await ask(["$(touch hit)", "`touch hit`", "$(touch hit)"])).output.includes("hit"), false);
  assert.equal((await ran(bash, ["-c", "ls"], folder)).output, "");
});

test("no description is cut within brackets", async () => {
  const { out } = await command(["completion", "fish"]);

  const descriptions = [...out.matchAll(/ -d '([^']*)'/g)].map(([, text = ""]) => text);
  assert.ok(descriptions.includes("format of the file"));
  assert.deepEqual(
    descriptions.filter((text) => text.lastIndexOf("(") > text.lastIndexOf(")")),
    [],
  );
});

test("a shell that is not known is bad input, with those that are", async () => {
  const { exitCode, err } = await command(["completion", "csh"]);

  assert.equal(exitCode, 2);
  assert.match(err, /Allowed choices are bash, zsh, fish/);
});

async function scriptFor(context: TestContext, shell: string): Promise<string> {
  const { exitCode, out } = await command(["completion", shell]);
  assert.equal(exitCode, 0);
  const file = path.join(await tempFolder(context), `deneb.${shell}`);
  await writeFile(file, `${out}\n`);
  return file;
}

function ran(
  program: string | undefined,
  args: readonly string[],
  cwd = ".",
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(program ?? "", [...args], { cwd }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` }),
    );
  });
}
