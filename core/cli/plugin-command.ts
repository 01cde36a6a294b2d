import type { Command } from "commander";
import type { Settle, Terminal } from "./terminal.js";

/** Adds `deneb plugin` with its two commands. */
export function addPlugin(program: Command, settle: Settle, terminal: Terminal): void {
  const plugin = program.command("plugin").description("write and test a plugin of your own");
  plugin
    .command("new")
    .description("write the folder of a new sink plugin")
    .argument("<name>", "name of the plugin, for example my-sink")
    .option("--into <folder>", "folder in which the new one is made", ".")
    .action((name, options) =>
      settle(import("./new-plugin.js").then(({ newPlugin }) => newPlugin(name, options, terminal))),
    );
  plugin
    .command("test")
    .description("run the conformance suites over the plugin in a folder")
    .argument("<folder>", "folder of the built plugin")
    .action((folder) => settle(import("./test-plugin.js").then(({ testPlugin }) => testPlugin(folder, terminal))));
}
