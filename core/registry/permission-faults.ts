import { isAbsolute } from "node:path";
import { isRecord } from "../sdk/event.js";
import { permittedProperty } from "../sdk/permissions.js";
import type { DeclarationFault } from "./declaration-faults.js";

/** Whether a value declares permissions, or none are declared. */
export function isPermissions(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isRecord(value) || typeof value.childProcesses !== "boolean") return false;
  const hosts = textsOf(value.hosts);
  const folders = textsOf(value.folders);
  if (hosts === undefined || folders === undefined) return false;
  const isFolder = (entry: string) => permittedProperty(entry) !== undefined || isAbsolute(entry);
  return hosts.every((entry) => /^[^\s/:]+$/.test(entry)) && folders.every(isFolder);
}

/** A fault for each permission that stands for a property that the plugin does not have. */
export function permissionFaults({
  permissions,
  config,
}: Readonly<Record<string, unknown>>): readonly DeclarationFault[] {
  if (!isRecord(permissions) || !isRecord(config)) return [];
  const entries = [...(textsOf(permissions.hosts) ?? []), ...(textsOf(permissions.folders) ?? [])];
  return entries
    .filter((entry) => !isDeclared(permittedProperty(entry), config))
    .map((entry) => ({
      fault: `permission "${entry}" names no property`,
      remedy: "name a property of its config, a field by its path",
    }));
}

function isDeclared(name: string | undefined, config: Readonly<Record<string, unknown>>): boolean {
  return name === undefined || Object.hasOwn(config, name) || hasField(config, name.split("."));
}

/** Whether the parts lead to a field, object by object. */
function hasField(fields: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined || !isRecord(fields) || !Object.hasOwn(fields, first)) return false;
  const property = fields[first];
  const format = isRecord(property) ? property.format : undefined;
  return rest.length === 0 || (isRecord(format) && hasField(format.fields, rest));
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}
