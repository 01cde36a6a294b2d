import { type Cell, joinedRows } from "deneb/sql";

/** Rows that go in with statements of `size` rows each; each run is the cells of one statement. */
export interface Chunk {
  readonly size: number;
  readonly runs: readonly (readonly Cell[])[];
}

const MOST_PARAMETERS = 65_535;
const MOST_ROWS = 100;
// A statement must fit into max_allowed_packet, 16 MiB unless the server says otherwise; a row alone may be larger.
const MOST_CHARACTERS = 1_000_000;

/** Cuts rows into statements that are neither too long nor have too many parameters. */
export function mysqlChunks(rows: readonly (readonly Cell[])[], columns: number): readonly Chunk[] {
  const most = Math.max(1, Math.min(MOST_ROWS, Math.floor(MOST_PARAMETERS / columns)));
  const cuts: (readonly (readonly Cell[])[])[] = [];
  let open: (readonly Cell[])[] = [];
  let characters = 0;
  for (const row of rows) {
    const length = row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
    if (open.length === most || (open.length > 0 && characters + length > MOST_CHARACTERS)) {
      cuts.push(open);
      open = [];
      characters = 0;
    }
    open.push(row);
    characters += length;
  }
  if (open.length > 0) cuts.push(open);
  return joined(cuts);
}

/** Statements of the same size one after another are one text that runs several times. */
function joined(cuts: readonly (readonly (readonly Cell[])[])[]): readonly Chunk[] {
  const chunks: { size: number; runs: (readonly Cell[])[] }[] = [];
  for (const cut of cuts) {
    const last = chunks.at(-1);
    if (last?.size === cut.length) last.runs.push(joinedRows(cut));
    else chunks.push({ size: cut.length, runs: [joinedRows(cut)] });
  }
  return chunks;
}
