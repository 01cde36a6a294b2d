import type { Command } from "commander";
import { managementOptions, managementProperties } from "../configuration/schema/management-properties.js";

/** Adds the options of the management interface, described as the settings are. */
export function withManagement(command: Command): Command {
  const docs = new Map(Object.entries(managementProperties).map(([name, { doc }]) => [name, doc]));
  for (const [name, option] of Object.entries(managementOptions)) {
    command.option(`${option} <value>`, docs.get(name) ?? "");
  }
  return command;
}
