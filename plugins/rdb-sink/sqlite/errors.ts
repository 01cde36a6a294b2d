import type { Fault, FaultReader, Place } from "deneb/sql";

const PERMANENT = /^SQLITE_(TOOBIG|MISMATCH|CONSTRAINT)/;
const PERMANENT_ERROR =
  /too many (columns|SQL variables)|object name reserved|cannot modify|may not be modified|ON CONFLICT clause does not match/;

export const sqliteFaults: FaultReader = {
  missing: ({ message }) => /no such (table|column)|has no column named/.test(message),
  raced: ({ message }) => /duplicate column name|already exists/.test(message),
  doubtful: (fault) => fault.code === "SQLITE_ERROR" && !sqliteFaults.missing(fault) && !sqliteFaults.raced(fault),
  retryable: ({ code = "", message }) => !PERMANENT.test(code) && !PERMANENT_ERROR.test(message),
  explain: (fault, place) =>
    explanations.find(({ when }) => when(fault))?.say(place, fault) ??
    `writing to the database files in "${place.address}" failed: ${fault.message}`,
};

interface Explanation {
  when(fault: Fault): boolean;
  say(place: Place, fault: Fault): string;
}

const explanations: readonly Explanation[] = [
  {
    when: ({ message }) => /too many (columns|SQL variables)/.test(message),
    say: ({ address }, { message }) =>
      `a table of the database files in "${address}" cannot have so many columns: ${message}; use attr_persistence = row for such entities`,
  },
  {
    when: coded(/^(SQLITE_FULL|ENOSPC)/),
    say: ({ address }) => `the disk of the database files in "${address}" is full; free space there`,
  },
  {
    when: coded(/^SQLITE_(BUSY|LOCKED)/),
    say: ({ address }) => `another program keeps a database file in "${address}" locked; end its transaction`,
  },
  {
    when: coded(/^(SQLITE_(READONLY|PERM)|EACCES|EPERM|EROFS)/),
    say: ({ address }) =>
      `the folder "${address}" or a file in it is not writable; give the agent the right to write there`,
  },
  {
    when: (fault) => coded(/^(SQLITE_CANTOPEN|E(?!RR_))/)(fault) || /Unable to open/.test(fault.message),
    say: ({ address }, { message }) =>
      `the database files in "${address}" cannot be opened: ${message}; check rdb_folder`,
  },
];

function coded(pattern: RegExp): Explanation["when"] {
  return ({ code }) => code !== undefined && pattern.test(code);
}
