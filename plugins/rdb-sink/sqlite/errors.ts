import type { DatabaseError, DatabaseErrorReader } from "deneb/sql";
import type { Explanation } from "../explanation.js";
import { FOLDER_GONE } from "./database-folder.js";
import { KEPT_LOCKED } from "./kept-locks.js";

const PERMANENT = /^SQLITE_(TOOBIG|MISMATCH|CONSTRAINT)/;
const PERMANENT_ERROR =
  /too many (columns|SQL variables)|object name reserved|cannot modify|may not be modified|generated column|ON CONFLICT clause does not match/;

/** A row that is rolled back is neither written nor synced: that a disk takes it does not prove that it takes others. */
const OF_WRITING = /^SQLITE_IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE)$/;

/** Whether the process, or the system, has no room for another open file. */
export function isTableOfFilesFull({ code = "" }: DatabaseError): boolean {
  return /^E[MN]FILE$/.test(code);
}

export const sqliteErrors: DatabaseErrorReader = {
  missing: ({ message }) => /no such (table|column)|has no column named/.test(message),
  raced: ({ message }) => /duplicate column name|already exists/.test(message),
  doubtful: (error) => error.code === "SQLITE_ERROR" && !sqliteErrors.missing(error) && !sqliteErrors.raced(error),
  ofOnePlace: ({ code = "" }) =>
    code === KEPT_LOCKED ||
    (!OF_WRITING.test(code) &&
      /^SQLITE_(ERROR|IOERR|CORRUPT|NOTADB|READONLY|PERM|CANTOPEN|AUTH)|^E(ACCES|PERM|ISDIR|LOOP)$/.test(code)),
  retryable: ({ code = "", message }) => !PERMANENT.test(code) && !PERMANENT_ERROR.test(message),
  explain: (error, server) =>
    explanations.find(({ when }) => when(error))?.say(server, error) ??
    `working with the database files in "${server.address}" failed: ${error.message}`,
};

const explanations: readonly Explanation[] = [
  {
    when: ({ message }) => /too many (columns|SQL variables)/.test(message),
    say: ({ address }, { message }) =>
      `a table of the database files in "${address}" has too many columns: ${message}; use attr_persistence = row for such entities`,
  },
  {
    when: isTableOfFilesFull,
    say: ({ address }) =>
      `the agent may open no more files, as those in "${address}"; raise its limit of open files (ulimit -n, LimitNOFILE)`,
  },
  {
    when: coded(/^(SQLITE_FULL|ENOSPC|EDQUOT)/),
    say: ({ address }) =>
      `the disk of the database files in "${address}" is full, or a quota used up; free space, or inodes, there`,
  },
  {
    when: coded(new RegExp(`^${FOLDER_GONE}$`)),
    say: ({ address }) =>
      `the folder "${address}" of the database files is gone; mount its disk, or put it back, or start the agent again with another one`,
  },
  {
    when: coded(/^(SQLITE_IOERR|EIO)/),
    say: ({ address }) =>
      `the disk of the database files in "${address}" fails, or a quota is used up; the log of the system says why, and what it damaged`,
  },
  {
    when: coded(/^SQLITE_(CORRUPT|NOTADB)/),
    say: ({ address }) =>
      `a database file in "${address}" is damaged, or its disk fails, as the log of the system says; restore it, or move it away with the -wal and -shm beside it: an empty one is made`,
  },
  {
    when: coded(/^KEPT_LOCKED$/),
    say: ({ address }) => `another program keeps a database file in "${address}" locked; end its transaction`,
  },
  {
    when: coded(/^SQLITE_(BUSY|LOCKED)/),
    say: ({ address }) =>
      `other programs write a database file in "${address}" without a pause; have them wait between two transactions`,
  },
  {
    when: coded(/^(SQLITE_(READONLY|PERM)|EACCES|EPERM|EROFS)/),
    say: ({ address }) =>
      `the folder "${address}" or a file in it is not writable; give the agent the right to write there, or mount its file system for writing`,
  },
  {
    when: (error) => coded(/^(SQLITE_CANTOPEN|E(?!RR_))/)(error) || /Unable to open/.test(error.message),
    say: ({ address }, { message }) =>
      `the database files in "${address}" cannot be opened: ${message}; check rdb_folder`,
  },
  {
    when: ({ message }) => /ON CONFLICT clause does not match/.test(message),
    say: ({ address }, { message }) =>
      `a table of last data in "${address}" has no unique key over last_data_unique_key, as after a change of that or of ` +
      `attr_persistence: ${message}; set another last_data_table_suffix, so that new tables are made`,
  },
];

function coded(pattern: RegExp): Explanation["when"] {
  return ({ code }) => code !== undefined && pattern.test(code);
}
