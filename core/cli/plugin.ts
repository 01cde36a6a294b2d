import type { Command } from "commander";
import type { CommandContext } from "./command.js";
import { defineDev } from "./plugin-dev.js";
import { defineNew } from "./plugin-new.js";
import { defineTest } from "./plugin-test.js";

export function define(command: Command, context: CommandContext): void {
  defineNew(command.command("new"), context);
  defineDev(command.command("dev"), context);
  defineTest(command, context);
}
