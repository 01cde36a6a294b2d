import type { Fault, FaultReader } from "../contract/database-error.js";

/** Which errors of a database mean what: each is looked for in `<code> <message>` of the error. */
export interface FaultPatterns {
  /** What people call the database. */
  readonly name: string;
  /** A schema, table or column is not there. */
  readonly missing: RegExp;
  /** A schema, table or column is there already. */
  readonly raced: RegExp;
  /** The data will never go in; everything else means that the database is away and the batch is tried again. */
  readonly refused: RegExp;
}

/** Reads the errors of a database by patterns. */
export function faultPatterns({ name, missing, raced, refused }: FaultPatterns): FaultReader {
  return {
    missing: (fault) => missing.test(textOf(fault)),
    raced: (fault) => raced.test(textOf(fault)),
    retryable: (fault) => !refused.test(textOf(fault)),
    explain: (fault, { address }) => {
      const verb = refused.test(textOf(fault)) ? "refused the data" : "cannot be used";
      return `${name} at "${address}" ${verb}: ${textOf(fault)}`;
    },
  };
}

function textOf({ code, message }: Fault): string {
  return code === undefined ? message : `${code} ${message}`;
}
