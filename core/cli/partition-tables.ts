import type { Command } from "commander";
import type { TableResult } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { cannot, onStoredData, type SinkOptions, withSinkOptions } from "./stored-data.js";
import { tableText } from "./table.js";

/** With more tables the progress is printed. */
const FEW_TABLES = 1000;

interface PartitionOptions extends SinkOptions {
  readonly yes?: boolean;
}

/** `deneb tables partition`. */
export function definePartition(tables: Command, { terminal, exitWith }: CommandContext): void {
  withSinkOptions(
    tables
      .command("partition")
      .description(
        "give existing tables of a sink the partitions and indexes of its configuration, while the agent runs",
      ),
  )
    .option("--yes", "do it; without this option the command only says what it would do")
    .argument("[tables...]", "names of tables, as `tables list` shows them; none: all tables of history of the sink")
    .action((names: readonly string[], options: PartitionOptions) => exitWith(partition(names, options, terminal)));
}

/** 0 when nothing was refused. */
async function partition(names: readonly string[], options: PartitionOptions, terminal: Terminal): Promise<number> {
  return await onStoredData(options, terminal, async (data, sink) => {
    if (data.partition === undefined) throw cannot(sink);
    const dryRun = options.yes !== true;
    const progress = (done: number, all: number) => {
      if (all > FEW_TABLES) terminal.err(`${done} of ${all} tables`);
    };
    const results = await data.partition(names, dryRun, terminal.stopRequested, progress);
    terminal.out(options.json === true ? JSON.stringify(results, undefined, 2) : textOf(results, dryRun));
    return results.some(({ outcome }) => outcome === "refused") ? exitCodes.failure : exitCodes.success;
  });
}

function textOf(results: readonly TableResult[], dryRun: boolean): string {
  const done = dryRun ? "would be changed" : "changed";
  const rows = results.map(({ name, outcome, reason = "" }) => [name, outcome === "done" ? done : outcome, reason]);
  const note = dryRun ? "\nnothing was changed; add --yes" : "";
  return `${tableText(["table", "outcome", "what"], rows)}${note}`;
}
