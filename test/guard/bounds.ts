/** Counts of one case, for 1,000 notifications. */
export type Counts = Readonly<Record<string, number>>;

/** How much more than it was a count may be. */
export interface Bound {
  readonly slack: number;
  readonly most: number;
}

/**
 * What the counts were: the median of several runs with Node 20; of allocated bytes, which differ most, the least of three.
 * `node dist/test/guard/measure.js` prints them. Decision 0081 says how each is counted.
 */
export const bounds: Readonly<Record<string, Counts>> = {
  "memory channel, one by one, ld": {
    statements: 5000,
    transactions: 1000,
    "messages to the database": 17_000,
    "bytes to the database": 990_800,
    "transactions without rows of entities": 0,
    "writes to files": 6,
    "bytes to files": 2382,
    "syncs of files": 6,
    "JSON texts read and written": 3,
    "characters of JSON read and written": 918,
    "system calls that read": 3045,
    "system calls that write": 3052,
    "allocated bytes": 98_800_000,
  },
  "file channel, one by one, ld": {
    statements: 6000,
    transactions: 1000,
    "messages to the database": 20_000,
    "bytes to the database": 1_564_800,
    "transactions without rows of entities": 0,
    "writes to files": 5005,
    "bytes to files": 1_977_594,
    "syncs of files": 1005,
    "JSON texts read and written": 3003,
    "characters of JSON read and written": 2_233_531,
    "system calls that read": 5940,
    "system calls that write": 10_950,
    "allocated bytes": 161_600_000,
  },
  "memory channel, groups of 100, ld": {
    statements: 140,
    transactions: 10,
    "messages to the database": 660,
    "bytes to the database": 378_830,
    "transactions without rows of entities": 0,
    "writes to files": 1,
    "bytes to files": 397,
    "syncs of files": 0,
    "JSON texts read and written": 0,
    "characters of JSON read and written": 0,
    "system calls that read": 1022,
    "system calls that write": 1023,
    "allocated bytes": 19_700_000,
  },
  "memory channel, groups of 100, ld-pretty": {
    statements: 140,
    transactions: 10,
    "messages to the database": 660,
    "bytes to the database": 378_830,
    "transactions without rows of entities": 0,
    "writes to files": 1,
    "bytes to files": 397,
    "syncs of files": 1,
    "JSON texts read and written": 0,
    "characters of JSON read and written": 0,
    "system calls that read": 1026,
    "system calls that write": 1028,
    "allocated bytes": 21_300_000,
  },
  "memory channel, groups of 100, v2": {
    statements: 140,
    transactions: 10,
    "messages to the database": 650,
    "bytes to the database": 552_180,
    "transactions without rows of entities": 0,
    "writes to files": 1,
    "bytes to files": 397,
    "syncs of files": 1,
    "JSON texts read and written": 0,
    "characters of JSON read and written": 0,
    "system calls that read": 1027,
    "system calls that write": 1029,
    "allocated bytes": 21_200_000,
  },
  "file channel, groups of 100, ld": {
    statements: 150,
    transactions: 10,
    "messages to the database": 680,
    "bytes to the database": 381_640,
    "transactions without rows of entities": 0,
    "writes to files": 1041,
    "bytes to files": 1_416_837,
    "syncs of files": 11,
    "JSON texts read and written": 1021,
    "characters of JSON read and written": 335_697,
    "system calls that read": 2046,
    "system calls that write": 3086,
    "allocated bytes": 34_200_000,
  },
  "file channel, groups of 100, ld-pretty": {
    statements: 150,
    transactions: 10,
    "messages to the database": 680,
    "bytes to the database": 381_640,
    "transactions without rows of entities": 0,
    "writes to files": 1042,
    "bytes to files": 1_854_234,
    "syncs of files": 12,
    "JSON texts read and written": 1021,
    "characters of JSON read and written": 413_467,
    "system calls that read": 2053,
    "system calls that write": 3093,
    "allocated bytes": 35_800_000,
  },
  "file channel, groups of 100, v2": {
    statements: 150,
    transactions: 10,
    "messages to the database": 670,
    "bytes to the database": 554_990,
    "transactions without rows of entities": 0,
    "writes to files": 1043,
    "bytes to files": 1_422_837,
    "syncs of files": 13,
    "JSON texts read and written": 1021,
    "characters of JSON read and written": 299_857,
    "system calls that read": 2060,
    "system calls that write": 3101,
    "allocated bytes": 35_700_000,
  },
};

/** What the clock has a part in is not exact: a share of what it was, and a number for what is done now and then. */
const slacks: Readonly<Record<string, { readonly share: number; readonly more: number }>> = {
  statements: { share: 0, more: 0 },
  transactions: { share: 0, more: 0 },
  // The rows of a COPY are cut where a buffer is full.
  "messages to the database": { share: 0.01, more: 0 },
  // Digits of the positions of a durable channel.
  "bytes to the database": { share: 0.01, more: 0 },
  // Connections are opened, and the list of tables is saved, when the clock says so.
  "transactions without rows of entities": { share: 0, more: 20 },
  // The ledger is saved every few seconds: a file of some hundred bytes.
  "writes to files": { share: 0, more: 50 },
  "bytes to files": { share: 0.01, more: 20_000 },
  "syncs of files": { share: 0, more: 50 },
  "JSON texts read and written": { share: 0, more: 50 },
  "characters of JSON read and written": { share: 0.01, more: 20_000 },
  // Events of the thread pool arrive together or alone.
  "system calls that read": { share: 0.05, more: 150 },
  "system calls that write": { share: 0.05, more: 150 },
  // A collection may begin a little earlier or later, and what the clock asks for allocates, too.
  "allocated bytes": { share: 0.05, more: 4_000_000 },
};

/** The bound of a count that was so much. */
export function boundOf(what: string, was: number): Bound {
  const { share, more } = slacks[what] ?? { share: 0, more: 0 };
  const slack = Math.ceil(was * share) + more;
  return { slack, most: was + slack };
}
