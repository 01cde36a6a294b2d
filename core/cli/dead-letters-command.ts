import type { Command } from "commander";
import { withManagementAddress } from "./management-address.js";
import type { Settle, Terminal } from "./terminal.js";

/** Adds `deneb dead-letters` with its four commands. */
export function addDeadLetters(program: Command, settle: Settle, terminal: Terminal): void {
  const letters = program.command("dead-letters").description("events that a sink could not store");
  reading(withChoice(letters.command("list").description("list letters"), "of"))
    .option("--json", "print them as JSON")
    .action((options) =>
      settle(import("./dead-letters-read.js").then(({ listDeadLetters }) => listDeadLetters(options, terminal))),
    );
  reading(letters.command("show").description("show one letter with its event"))
    .argument("<id>", "id of the letter")
    .action((id, options) =>
      settle(import("./dead-letters-read.js").then(({ showDeadLetter }) => showDeadLetter(id, options, terminal))),
    );
  changing(letters.command("replay").description("have the running agent store letters after all"))
    .option("--dry-run", "say what would be replayed, and change nothing")
    .action((id, options) =>
      settle(import("./dead-letters.js").then(({ replayDeadLetters }) => replayDeadLetters(id, options, terminal))),
    );
  changing(letters.command("drop").description("have the running agent remove letters from its disk")).action(
    (id, options) =>
      settle(import("./dead-letters.js").then(({ dropDeadLetters }) => dropDeadLetters(id, options, terminal))),
  );
}

/** Reads the data directory, or asks the agent when an option names one. */
function reading(command: Command): Command {
  return withManagementAddress(command.option("--data-dir <folder>", "data directory of the agent (default: data)"));
}

function changing(command: Command): Command {
  return withManagementAddress(
    withChoice(command, "all letters of")
      .argument("[id]", "id of the letter")
      .option("--all", "all letters of all sinks")
      .option("--json", "print the answer as JSON"),
  );
}

function withChoice(command: Command, of: string): Command {
  return command
    .option("-s, --sink <sink>", `${of} this sink`)
    .option("--service <service>", `${of} this service`)
    .option("--entity <id>", `${of} the entity with this id`)
    .option("--reason <reason>", `${of} this reason: permanent, retries-exhausted or crashed-the-agent`)
    .option("--since <time>", `${of} this time or later, as 2026-01-31T08:00:00Z`);
}
