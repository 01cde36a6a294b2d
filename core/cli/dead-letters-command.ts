import type { Command } from "commander";
import type { Terminal } from "./terminal.js";

type Settle = (command: Promise<number>) => Promise<void>;

/** Adds `deneb dead-letters` with its four commands. */
export function addDeadLetters(program: Command, settle: Settle, terminal: Terminal): void {
  const letters = program.command("dead-letters").description("events that a sink could not store");
  offline(letters.command("list").description("list the letters in the data directory"))
    .option("-s, --sink <sink>", "letters of this sink only")
    .option("--json", "print them as JSON")
    .action((options) =>
      settle(import("./dead-letters.js").then(({ listDeadLetters }) => listDeadLetters(options, terminal))),
    );
  offline(letters.command("show").description("show one letter with its event"))
    .argument("<id>", "id of the letter")
    .action((id, options) =>
      settle(import("./dead-letters.js").then(({ showDeadLetter }) => showDeadLetter(id, options, terminal))),
    );
  online(letters.command("replay").description("have the running agent store letters after all"))
    .argument("[id]", "id of the letter")
    .action((id, options) =>
      settle(import("./dead-letters.js").then(({ replayDeadLetters }) => replayDeadLetters(id, options, terminal))),
    );
  online(letters.command("drop").description("have the running agent forget letters"))
    .argument("[id]", "id of the letter")
    .action((id, options) =>
      settle(import("./dead-letters.js").then(({ dropDeadLetters }) => dropDeadLetters(id, options, terminal))),
    );
}

function offline(command: Command): Command {
  return command.option("--data-dir <folder>", "data directory of the agent (default: data)");
}

function online(command: Command): Command {
  return command
    .option("-s, --sink <sink>", "all letters of this sink")
    .option("--all", "all letters of all sinks")
    .option("-p, --management-port <port>", "port of the agent's management interface (default: 5080)")
    .option("--management-host <host>", "address of the agent's management interface (default: 127.0.0.1)")
    .option("--json", "print the answer as JSON");
}
