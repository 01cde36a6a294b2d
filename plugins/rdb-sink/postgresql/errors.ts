import type { DatabaseError, DatabaseErrorReader } from "deneb/sql";
import { coded } from "../explanation.js";
import {
  IDLE_IN_TRANSACTION,
  isOfTheSystem,
  isSqlState,
  isWithoutPostgis,
  isWithoutTimescale,
  LOCKED,
  NOT_PERMITTED,
  NOT_READY,
  RAISED,
  READ_ONLY,
  STATEMENT_CANCELED,
  TRANSACTION_ENDED,
} from "./error-kinds.js";
import { explained } from "./explanations.js";

const MISSING = new Set(["3F000", "42P01", "42703"]);
// Includes deadlocks: two processes that alter the same tables in different order.
// And partitions that another process made or detached at the same time.
const RACED = new Set(["23505", "42P07", "42P06", "42701", "42710", "40P01", "42809", "42P17", "XX000"]);
const PERMANENT_CLASSES = new Set(["0A", "22", "23", "42", "54"]);
// Functions and triggers, also those of extensions such as PostGIS, raise these for single values.
const DOUBTFUL_CLASSES = new Set(["09", "20", "21", "27", "2F", "38", "39", "44", "P0"]);
// Conflicts, resources such as the disk, and what was ended by an operator or a time limit.
const OF_ALL_CLASSES = new Set(["40", "53", "57"]);
// The same by limits of the server, which have other classes.
const OF_ALL = new Set([LOCKED, IDLE_IN_TRANSACTION, TRANSACTION_ENDED, READ_ONLY]);
const NO_GEOMETRY =
  /parse error - |invalid GeoJson|geometry (?:requires|must|contains|has too)|can not mix dimensionality|invalid WKB/i;
const CURABLE = new Set([...MISSING, NOT_PERMITTED]);

export const postgresqlErrors: DatabaseErrorReader = {
  missing: ({ code }) => code !== undefined && MISSING.has(code),
  raced: ({ code, message }) =>
    code !== undefined && RACED.has(code) && (code !== "XX000" || /concurrently/.test(message)),
  tooSlow: coded(STATEMENT_CANCELED, TRANSACTION_ENDED),
  tooWide: coded("54011"),
  doubtful: ({ code, message }) =>
    code !== undefined &&
    !isOfTheSystem({ code, message }) &&
    (code === NOT_READY ||
      DOUBTFUL_CLASSES.has(code.slice(0, 2)) ||
      (code === "XX000" && !/concurrently/.test(message))),
  ofOnePlace: ({ code, message, opening }) =>
    opening === true
      ? code === NOT_READY || code === NOT_PERMITTED
      : code?.startsWith(RAISED) === true || (isSqlState(code) && !isOfAll(code) && !isOfTheSystem({ code, message })),
  retryable: (error) =>
    isWithoutPostgis(error) || isWithoutTimescale(error) || (!isNoGeometry(error) && isTemporary(error)),
  explain: (error, store) => explained(error, { ...store, database: error.database ?? store.database }),
};

/** Whether a SQLSTATE says that the server takes no rows now, whatever their table is. */
export function isOfAll(code: string): boolean {
  return OF_ALL.has(code) || OF_ALL_CLASSES.has(code.slice(0, 2));
}

function isTemporary({ code }: DatabaseError): boolean {
  return !isSqlState(code) || CURABLE.has(code) || !PERMANENT_CLASSES.has(code.slice(0, 2));
}

/** PostGIS reports texts that it cannot read as internal errors. */
function isNoGeometry({ code, message }: DatabaseError): boolean {
  return code === "XX000" && NO_GEOMETRY.test(message);
}
