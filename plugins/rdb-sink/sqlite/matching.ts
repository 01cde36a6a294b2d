import { type Column, type MatchingSql, quoted } from "deneb/sql";
import { deletionOf } from "./row-ids.js";

export const matchingSql: MatchingSql = {
  path: ({ table }) => quoted(table),
  quoted,
  parameter: () => "?",
  time: sortable,
  timeParameter: (_column, parameter) => parameter,
  is: ({ name }, parameter) => `${quoted(name)} = ${parameter}`,
  contains: ({ name }, parameter) => `instr(${quoted(name)}, ${parameter}) > 0`,
  deletion: (table, which, limit) => deletionOf(table, `${which} LIMIT ${limit}`),
  text: ({ name }) => quoted(name),
};

export function sortable({ name }: Column): string {
  return `replace(${quoted(name)}, 'T', ' ')`;
}

/**
 * A time that can be compared, of ISO 8601 with any zone; what SQLite cannot parse is compared as text. SQLite knows no more than
 * milliseconds, and rounds to them: the fraction is added as it was given.
 */
export function timeOf(given: string): string {
  // SQLite knows no t in lower case; texts of simplified NGSI-LD have quotes.
  const column = `upper(trim(${given}, '"'))`;
  const point = `instr(${column}, '.')`;
  const zone = `ltrim(substr(${column}, ${point} + 1), '0123456789')`;
  const whole = `iif(${point} = 0, ${column}, substr(${column}, 1, ${point} - 1) || ${zone})`;
  const fraction = `iif(${point} = 0, 0, CAST('0' || substr(${column}, ${point}) AS REAL))`;
  // Zones as in +0100 and +01.
  const withColon = `substr(${whole}, 1, length(${whole}) - 2) || ':' || substr(${whole}, -2)`;
  const withMinutes = `${whole} || ':00'`;
  const read = [whole, withColon, withMinutes].map(
    (text) => `strftime('%Y-%m-%d %H:%M:%S', ${text}) || substr(printf('%.9f', ${fraction}), 2)`,
  );
  return `coalesce(${read.join(", ")}, replace(${column}, 'T', ' '))`;
}
