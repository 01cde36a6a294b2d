import { isRecord } from "../sdk/event.js";
import { DEEPEST_FIELDS } from "../sdk/schema.js";
import type { DeclarationFault } from "./declaration-faults.js";

/** What is wrong with the objects of a schema, whatever their fields are: then there is no schema without fields. */
export function fieldFaults(config: unknown): readonly DeclarationFault[] {
  const paths = Object.entries(isRecord(config) ? config : {}).flatMap(([name, property]) =>
    pathsOf(name, property, DEEPEST_FIELDS),
  );
  const twice = paths.filter(({ path }, at) => paths.findIndex((one) => one.path === path) !== at);
  return [
    ...paths.flatMap(({ fault }) => fault ?? []),
    ...twice.map(({ path }) => ({
      fault: `property "${path}" is declared twice, by its name and as a field`,
      remedy: "rename one of the two",
    })),
  ];
}

/** A property, or a field, as a file writes it. */
interface DeclaredPath {
  readonly path: string;
  readonly fault?: DeclarationFault;
}

function pathsOf(path: string, property: unknown, deepest: number): readonly DeclaredPath[] {
  const format = isRecord(property) ? property.format : undefined;
  if (!isRecord(property) || !isRecord(format) || !("fields" in format)) return [{ path }];
  const wrong = (fault: string, remedy: string) => [
    { path, fault: { fault: `property "${path}" has ${fault}`, remedy } },
  ];
  const { fields } = format;
  if (!isRecord(fields) || Object.keys(fields).length === 0) {
    return wrong(
      "fields that are no schema",
      `give at least one: fields: { x: { doc: "What it is.", format: "text" } }`,
    );
  }
  if (deepest === 0) return wrong(`fields more than ${DEEPEST_FIELDS} deep`, "declare fewer objects within objects");
  const member = ["default", "env", "envFile", "resource"].find((name) => name in property);
  if (member !== undefined) return wrong(`fields and "${member}"`, `give "${member}" to the fields`);
  const strange = Object.keys(fields).find((name) => !/^[\w.*-]+$/.test(name));
  if (strange !== undefined) {
    return wrong(`the field "${strange}"`, "use letters, digits, dots, underscores and hyphens for its name");
  }
  return Object.entries(fields).flatMap(([field, one]) => pathsOf(`${path}.${field}`, one, deepest - 1));
}
