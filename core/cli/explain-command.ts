import type { Command } from "commander";
import type { Settle, Terminal } from "./terminal.js";

/** Makes the command `deneb explain`. */
export function addExplain(command: Command, settle: Settle, terminal: Terminal): void {
  command
    .description("tell what an agent would do with a notification, without touching any database")
    .argument("<notification>", "file with the body of a notification")
    .requiredOption("-f, --config <file>", "properties file")
    .option("-n, --name <agent>", "agent of the file; may be left out when the file holds one")
    .option(
      "--header <field>",
      "header field of the notification, such as 'Fiware-Service: openiot'; repeat it",
      gathered,
    )
    .option("--data-dir <folder>", "data directory of the agent (default: data)")
    .option("--json", "print it as JSON")
    .action((notification, { plugins: pluginFolders, ...rest }) =>
      settle(
        import("./explain.js").then(({ explainNotification }) =>
          explainNotification(notification, { ...rest, pluginFolders }, terminal),
        ),
      ),
    );
}

function gathered(field: string, before: readonly string[] = []): readonly string[] {
  return [...before, field];
}
