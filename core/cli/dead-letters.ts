import { setTimeout as pause } from "node:timers/promises";
import { type Command, Option } from "commander";
import { isRecord } from "../sdk/event.js";
import { askManagement, type ManagementAddress } from "./ask-management.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import {
  type DeadLetterOptions,
  filterOptions,
  isAgentOfFile,
  listDeadLetters,
  queryOf,
  readFilter,
  settingsOf,
  showDeadLetter,
  withAgent,
  withDataDirOption,
  withFilterOptions,
} from "./dead-letters-read.js";
import { deadLettersPath } from "./letters-of-agent.js";
import { managementAddress } from "./management-address.js";

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
  return withAgent(
    withFilterOptions(command, "all dead letters of")
      .argument("[id]", "id of the dead letter")
      .option("--all", "all dead letters of all sinks")
      .addOption(new Option("--data-dir <directory>").hideHelp())
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
  const address = managementAddress(options, settings, terminal);
  if (!(await isAgentOfFile(options, address, terminal))) return exitCodes.badInput;
  const { body, failure } = await askManagement(address, method, target);
  if (options.json === true) terminal.out(JSON.stringify(body));
  else await print(body, { id, options, terminal }, address);
  if (failure === undefined) return exitCodes.success;
  terminal.err(`deneb: ${failure}`);
  return exitCodes.failure;
}

/** In words: a letter that was replayed is in its channel, and not stored yet. */
async function print(body: Answer, { id, options, terminal }: Call, address: ManagementAddress): Promise<void> {
  const text = countsIn(body);
  if (text === "") return;
  terminal.out(options.dryRun === true ? `dry run, nothing is changed: would be ${text}` : text);
  const sent = Number(body["replayed"] ?? 0);
  if (options.dryRun === true || sent + Number(body["underway"] ?? 0) === 0 || body["replayed"] === undefined) return;
  if (id !== undefined) terminal.out(await outcomeOf(id, address));
  else if (sent > 0) terminal.out("what fails again waits again: see deneb dead-letters list");
}

/** Either an id, or --all, or options that filter; no folder, as for the commands that read. */
function selectionFault(id: string | undefined, options: DeadLetterOptions): string | undefined {
  if (options.dataDir !== undefined) {
    const address = "give its address with --management-host and --management-port";
    return `error: --data-dir "${options.dataDir}" is for list and show; the running agent replays and drops: ${address}`;
  }
  const filters = [...queryOf(options).keys()].length > 0;
  const all = options.all === true;
  if (id !== undefined) return filters || all ? "give an id, or options that select dead letters, not both" : undefined;
  if (all && filters) return "give --all, or options that select dead letters, not both";
  return all || filters ? undefined : `select dead letters with an id, --all, or some of ${filterOptions}`;
}

type Answer = Readonly<Record<string, unknown>>;

const words = new Map([
  ["replayed", "put into the channel again"],
  ["underway", "being replayed already"],
]);

/** The first count, and those that are not 0. */
function countsIn(body: Answer): string {
  const counts = Object.entries(body).filter(([, value]) => typeof value === "number");
  const told = counts.filter(([, count], index) => index === 0 || count !== 0);
  return told.map(([name, count]) => `${words.get(name) ?? name}: ${count}`).join(", ");
}

/** Milliseconds that are waited for the store. */
const LONGEST = 10_000;
const BETWEEN = 250;
const NOT_FOUND = 404;

/** What came of a dead letter that was replayed, for people: asked of the running agent until it is known, or for ten seconds. */
export async function outcomeOf(id: string, address: ManagementAddress, longest = LONGEST): Promise<string> {
  const end = performance.now() + longest;
  for (;;) {
    const { status, body, failure } = await askManagement(
      address,
      "GET",
      `${deadLettersPath}/${encodeURIComponent(id)}`,
    );
    if (status === NOT_FOUND) return "stored";
    if (failure !== undefined) return `what came of it cannot be read: ${failure}`;
    const letter = isRecord(body["deadletter"]) ? body["deadletter"] : {};
    if (letter["state"] === "waiting") return `failed again: ${String(letter["message"])}`;
    if (performance.now() > end) return `still on its way: see deneb dead-letters show ${id}`;
    await pause(BETWEEN);
  }
}
