import type { DatabaseError } from "deneb/sql";

/** By `lock_timeout`. */
export const LOCKED = "55P03";
/** By `statement_timeout`, or by somebody. */
export const STATEMENT_CANCELED = "57014";
/** By `transaction_timeout`, since PostgreSQL 17. */
export const TRANSACTION_ENDED = "25P04";
/** By `idle_in_transaction_session_timeout`. */
export const IDLE_IN_TRANSACTION = "25P03";
/** By `idle_session_timeout`. */
export const IDLE = "57P05";
/** A view that takes no rows, for one. */
export const NOT_READY = "55000";
/** A missing right, such as that to connect. */
export const NOT_PERMITTED = "42501";
/** The server, or this session of it, takes no writes: a standby, as a primary is after a failover. */
export const READ_ONLY = "25006";
/** Begins the code of an error of the whole server that a trigger or another server raised. */
export const RAISED = "RAISED_";
/** Begins the error of a connection over which comes what nobody can read, or has asked for. */
export const UNREADABLE = "what it sends is not the protocol of PostgreSQL";
/** Begins the error of a transaction that did not end as it was asked to. */
export const OUT_OF_STEP = "it does not do what it is asked for";

/** What the system refused, for which PostgreSQL has no code: a quota of the disk, memory, or a file system that it made read-only. */
const OF_THE_SYSTEM = /: (?:Disk quota exceeded|No space left on device|Cannot allocate memory|Read-only file system)$/;
const NO_TIMESCALE = /create_hypertable|drop_chunks|timescaledb/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** True for a SQLSTATE, false for the code of a Node error. */
export function isSqlState(code: string | undefined): code is string {
  return code !== undefined && SQLSTATE.test(code) && /\d/.test(code);
}

/** A trigger of others may say the same, but with other codes. */
export function isOfTheSystem({ code, message }: DatabaseError): boolean {
  return (code === "XX000" || code === NOT_PERMITTED) && OF_THE_SYSTEM.test(message);
}

export function isWithoutPostgis({ code, message }: DatabaseError): boolean {
  return code === "42704" && /\bgeometry\b/.test(message);
}

export function isWithoutTimescale({ code, message }: DatabaseError): boolean {
  return (code === "42883" || code === "42P01") && NO_TIMESCALE.test(message);
}
