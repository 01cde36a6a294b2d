import { type Column, type MatchingSql, quoted } from "deneb/sql";

/** How rows are counted, deleted and read by what they hold. */
export const matchingSql: MatchingSql = {
  path: ({ table }) => quoted(table),
  quoted,
  parameter: () => "?",
  time: sortable,
  timeParameter: (_column, parameter) => parameter,
  is: ({ name }, parameter) => `${quoted(name)} = ${parameter}`,
  contains: ({ name }, parameter) => `instr(${quoted(name)}, ${parameter}) > 0`,
  deletion: (table, which, limit) =>
    `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table}${which} LIMIT ${limit})`,
  text: ({ name }) => quoted(name),
};

/** NGSI-LD writes times with T and Z, NGSI v2 with a space. */
export function sortable({ name }: Column): string {
  return `replace(${quoted(name)}, 'T', ' ')`;
}
