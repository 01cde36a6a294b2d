import type { Command } from "commander";
import { askManagement } from "./ask-management.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import {
  type DeadLetterOptions,
  filterOptions,
  listDeadLetters,
  queryOf,
  readFilter,
  settingsOf,
  showDeadLetter,
  withDataDirOption,
  withFilterOptions,
} from "./dead-letters-read.js";
import { deadLettersPath } from "./letters-of-agent.js";
import { managementAddress, withManagementAddress } from "./management-address.js";

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withDataDirOption(withFilterOptions(command.command("list").description("list dead letters"), "of"))
    .option("--json", "print them as JSON")
    .action((options: DeadLetterOptions) => exitWith(listDeadLetters(options, terminal)));
  withDataDirOption(command.command("show").description("show one dead letter with its event"))
    .argument("<id>", "id of the dead letter")
    .action((id: string, options: DeadLetterOptions) => exitWith(showDeadLetter(id, options, terminal)));
  changing(command.command("replay").description("make the running agent store dead letters again"))
    .option("--dry-run", "report what would be replayed, and change nothing")
    .action((id: string | undefined, options: DeadLetterOptions) =>
      exitWith(change({ method: "POST", suffix: "/replay" }, { id, options, terminal })),
    );
  changing(command.command("drop").description("make the running agent remove dead letters")).action(
    (id: string | undefined, options: DeadLetterOptions) =>
      exitWith(change({ method: "DELETE", suffix: "" }, { id, options, terminal })),
  );
}

function changing(command: Command): Command {
  return withManagementAddress(
    withFilterOptions(command, "all dead letters of")
      .argument("[id]", "id of the dead letter")
      .option("--all", "all dead letters of all sinks")
      .option("--json", "print the answer as JSON"),
  );
}

interface Call {
  readonly id: string | undefined;
  readonly options: DeadLetterOptions;
  readonly terminal: Terminal;
}

interface Request {
  readonly method: "POST" | "DELETE";
  readonly suffix: "" | "/replay";
}

/** `deneb dead-letters replay` and `drop`: the running agent does it. */
async function change({ method, suffix }: Request, { id, options, terminal }: Call): Promise<number> {
  const settings = settingsOf(options, terminal);
  const filter = readFilter(options, terminal);
  const fault = selectionFault(id, options);
  if (fault !== undefined) terminal.err(fault);
  if (settings === undefined || filter === undefined || fault !== undefined) return exitCodes.badInput;
  const query = queryOf(options);
  if (options.dryRun === true) query.set("dry_run", "true");
  if (options.all === true) query.set("all", "true");
  const target = `${deadLettersPath}${id === undefined ? "" : `/${encodeURIComponent(id)}`}${suffix}?${query}`;
  const { body, failure } = await askManagement(managementAddress(options, settings, terminal), method, target);
  const text = options.json === true ? JSON.stringify(body) : countsIn(body);
  if (text !== "") terminal.out(options.json !== true && options.dryRun === true ? `dry run: ${text}` : text);
  if (failure === undefined) return exitCodes.success;
  terminal.err(`deneb: ${failure}`);
  return exitCodes.failure;
}

/** Either an id, or --all, or options that filter. */
function selectionFault(id: string | undefined, options: DeadLetterOptions): string | undefined {
  const filters = [...queryOf(options).keys()].length > 0;
  const all = options.all === true;
  if (id !== undefined) return filters || all ? "give an id, or options that select dead letters, not both" : undefined;
  if (all && filters) return "give --all, or options that select dead letters, not both";
  return all || filters ? undefined : `select dead letters with an id, --all, or some of ${filterOptions}`;
}

function countsIn(body: Readonly<Record<string, unknown>>): string {
  const counts = Object.entries(body).filter(([, value]) => typeof value === "number");
  return counts.map(([name, count]) => `${name}: ${count}`).join(", ");
}
