import { createHash } from "node:crypto";
import { type PartitionedTable, plain, type Statement, type TableIndex, type TableName } from "deneb/sql";
import { path } from "./statements.js";
import { block, indexText, literal } from "./time-ranges.js";

/** The names of the indexes of a table that queries use. One whose creation was ended is there without being used. */
export function indexNames(name: TableName): Statement {
  const text = `
    SELECT i.relname FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
    WHERE x.indisvalid AND x.indrelid = to_regclass($1)`;
  return { at: name, text, runs: [[path(name)]] };
}

/** An index that is made while others write. What an ended attempt left is dropped before. */
export function concurrentIndex(name: TableName, index: TableIndex): readonly Statement[] {
  return [dropUnfinished(name, index.name), plain(name, indexText(name, index, "CREATE INDEX CONCURRENTLY"))];
}

/** Waits for a moment only: another process may be making it. */
function dropUnfinished(name: TableName, index: string): Statement {
  const own = path({ ...name, table: index });
  const text = `
    PERFORM set_config('lock_timeout', '1s', true);
    IF EXISTS (SELECT FROM pg_catalog.pg_index WHERE indexrelid = to_regclass(${literal(own)}) AND NOT indisvalid) THEN
      DROP INDEX ${own};
    END IF;`;
  return plain(name, block(text));
}

/** First on each partition, while others write; the partitioned table then takes these over, which is quick. */
export function partitionedIndexes(
  { name, partitions }: PartitionedTable,
  indexes: readonly TableIndex[],
): readonly Statement[] {
  return indexes.flatMap((index) => [
    ...partitions.flatMap((partition) => concurrentIndex(partition.name, onPartition(partition.name, index))),
    plain(name, indexText(name, index, "CREATE INDEX")),
  ]);
}

/** Chunk by chunk, while others write to the other chunks: a hypertable takes no CONCURRENTLY. */
export function hypertableIndexes(name: TableName, indexes: readonly TableIndex[]): readonly Statement[] {
  return indexes.flatMap((index) => [
    dropUnfinished(name, index.name),
    plain(name, `${indexText(name, index, "CREATE INDEX")} WITH (timescaledb.transaction_per_chunk)`),
  ]);
}

const DIGITS = 32;

function onPartition({ table }: TableName, index: TableIndex): TableIndex {
  const hash = createHash("sha256").update(`${table}\0${index.name}`).digest("hex").slice(0, DIGITS);
  return { ...index, name: `deneb_${hash}` };
}
