import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { build, compilerOf } from "./plugin-dev/build.js";
import { DevAgent } from "./plugin-dev/dev-agent.js";
import { SourceWatch } from "./plugin-dev/source-watch.js";

interface DevOptions {
  readonly config?: string;
  readonly name?: string;
  readonly type?: string;
  readonly port: string;
  readonly set?: readonly string[];
  readonly sample?: readonly string[];
}

export function defineDev(command: Command, { terminal, exitWith }: CommandContext): void {
  command
    .description("run an agent with the plugin in a folder, again whenever a file changes, and show what it does")
    .argument("[folder]", "folder of the plugin", ".")
    .option("--set <key=value>", "property of the plugin; may be repeated", appended)
    .option("--sample <file>", "notification to post instead of the usual ones; may be repeated", appended)
    .option("--port <port>", "port of the http source; 0 chooses a free one", "0")
    .option("--type <type>", "type of the plugin, where the folder declares several")
    .option("-f, --config <file>", "properties file of an agent of your own")
    .option("-n, --name <agent>", "agent of that file; may be omitted when the file holds one")
    .action((folder: string, options: DevOptions) => exitWith(dev(path.resolve(folder), options, terminal)));
}

function appended(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `deneb plugin dev`: everything that it keeps is in a temporary folder. */
async function dev(folder: string, options: DevOptions, terminal: Terminal): Promise<number> {
  const fault = faultOf(options);
  if (fault !== undefined) {
    terminal.err(`error: ${fault}`);
    return exitCodes.badInput;
  }
  if (!(await isFolder(folder))) {
    terminal.err(`error: "${folder}" is not a folder; give the one with the package.json or index.js of the plugin`);
    return exitCodes.badInput;
  }
  const temporary = await mkdtemp(path.join(tmpdir(), "deneb-dev-"));
  try {
    await loop({ folder, temporary, options }, terminal);
    return exitCodes.success;
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

function faultOf({ set = [], config, port }: DevOptions): string | undefined {
  const malformed = set.find((text) => text.indexOf("=") < 1);
  if (malformed !== undefined) return `--set "${malformed}": write it as key=value`;
  if (config !== undefined && set.length > 0) return "--set is for the usual agent; write the property into the file";
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return `--port "${port}": give a number from 0 to 65535`;
  return undefined;
}

async function isFolder(folder: string): Promise<boolean> {
  return await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

interface DevInput {
  readonly folder: string;
  readonly temporary: string;
  readonly options: DevOptions;
}

/** Builds, runs and waits for a change, until a stop is asked for. */
async function loop({ folder, temporary, options }: DevInput, terminal: Terminal): Promise<void> {
  terminal.endsInOrder?.();
  const signal = terminal.stopRequested;
  const { config, name, type, sample = [], set = [] } = options;
  const compiler = await compilerOf(folder);
  const files = [...sample, ...(config === undefined ? [] : [config])].map((file) => path.resolve(file));
  const watch = new SourceWatch(folder, { files, isTyped: compiler !== undefined });
  const agent = new DevAgent(
    {
      folder,
      temporary,
      samples: sample.map((file) => path.resolve(file)),
      values: Object.fromEntries(set.map(pairOf)),
      port: Number(options.port),
      ...(config === undefined ? {} : { config: path.resolve(config) }),
      ...(name === undefined ? {} : { agent: name }),
      ...(type === undefined ? {} : { type }),
    },
    terminal,
  );
  const endOfInput = terminal.onEnter?.(() => agent.post());
  try {
    while (!signal.aborted) {
      const state = await watch.state();
      if (compiler === undefined || (await build(compiler, folder, terminal))) await agent.replace();
      else if (!signal.aborted) terminal.err("not built; what was running goes on. It is built again after a change");
      await watch.changeFrom(state, signal);
    }
  } finally {
    endOfInput?.();
    await agent.stop();
  }
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}
