import { nameLimits, shorten } from "deneb/ngsi";
import {
  type Column,
  type ConversionStep,
  type PartitionConversion,
  plain,
  quoted,
  type Statement,
  type TableName,
} from "deneb/sql";
import { concurrentIndex } from "./indexes.js";
import { path } from "./statements.js";
import { block, boundsText, boundText, literal, partitionedTable } from "./time-ranges.js";

/** The constraint that proves to the server which rows a table holds. */
const BOUND = quoted("deneb_until");
const LOCK_WAIT = "SET LOCAL lock_timeout = '1s'";

/**
 * The table becomes the first partition of a new one. Its rows are not copied; the server reads them once, while others
 * read and write, to prove that they belong there. The exchange of the names is one transaction.
 */
export function conversionSteps(conversion: PartitionConversion): readonly ConversionStep[] {
  const { name, time, until, indexes } = conversion;
  const own = quoted(time.name);
  const check = `CHECK (${own} IS NOT NULL AND ${own} < ${boundText(until, time)}) NOT VALID`;
  return [
    {
      what: `no row from ${until} on`,
      isLong: false,
      statements: [plain(name, LOCK_WAIT), plain(name, boundedText(name, until, check))],
    },
    {
      what: "all rows are checked",
      isLong: true,
      statements: [plain(name, `ALTER TABLE ${path(name)} VALIDATE CONSTRAINT ${BOUND}`)],
    },
    // On the old table, while others write; the new table then has the same without building them.
    {
      what: "it has the indexes",
      isLong: true,
      statements: indexes.flatMap((index) => concurrentIndex(name, index)),
    },
    {
      what: "the table is a partition",
      isLong: false,
      statements: [
        plain(name, LOCK_WAIT),
        plain(name, `LOCK TABLE ${path(name)} IN ACCESS EXCLUSIVE MODE`),
        plain(name, exchangeText(conversion)),
      ],
    },
  ];
}

/** Two processes that convert a table share the constraint, so that neither takes the proof of the other one away. */
function boundedText(name: TableName, until: string, check: string): string {
  return block(`
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE ${isBound(name)} AND ${isUntil(until)}) THEN
      ALTER TABLE ${path(name)} DROP CONSTRAINT IF EXISTS ${BOUND}, ADD CONSTRAINT ${BOUND} ${check};
      COMMENT ON CONSTRAINT ${BOUND} ON ${path(name)} IS ${literal(until)};
    END IF;`);
}

function isBound(name: TableName): string {
  return `conname = 'deneb_until' AND conrelid = to_regclass(${literal(path(name))})`;
}

function isUntil(until: string): string {
  return `obj_description(oid, 'pg_constraint') = ${literal(until)}`;
}

/** Drops the constraint of a conversion that has not ended. */
export function releaseText(name: TableName): string {
  return block(`
    IF EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE ${isBound(name)}) THEN
      ALTER TABLE ${path(name)} DROP CONSTRAINT IF EXISTS ${BOUND};
    END IF;`);
}

/** NOT NULL, which is a constraint since PostgreSQL 18; it goes to the new table with the column. */
const COPIED = "(contype = 'n' AND convalidated AND NOT connoinherit)";

/** What belongs to a table and would be lost, or serve the old rows only. */
const REFUSED = `
  CASE
    WHEN c.relkind <> 'r' THEN 'it is not a plain table'
    WHEN EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent)) THEN 'it inherits or is inherited from'
    WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) THEN 'it has triggers'
    WHEN EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND conname <> 'deneb_until' AND NOT ${COPIED})
      THEN 'it has constraints'
    WHEN EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisunique) THEN 'it has a unique index'
    WHEN EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
      AND (attidentity <> '' OR attacl IS NOT NULL)) THEN 'a column is an identity or has privileges of its own'
    WHEN c.relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid) THEN 'it has row security'
    WHEN EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid) THEN 'it has rules'
    WHEN EXISTS (SELECT FROM pg_publication_rel WHERE prrelid = c.oid) THEN 'it is part of a publication'
    WHEN EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
      AND d.classid IN ('pg_proc'::regclass, 'pg_policy'::regclass)) THEN 'a function or policy depends on it'
    WHEN EXISTS (SELECT FROM pg_depend d JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
      JOIN pg_class v ON v.oid = r.ev_class WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
      AND v.relkind <> 'v') THEN 'a materialized view reads it'
    WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'another user owns it'
  END`;

export function convertible(name: TableName, _time: Column): Statement {
  const text = `
    SELECT ${REFUSED} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2`;
  return { at: name, text, runs: [[name.schema, name.table]] };
}

/** Indexes, views, privileges, the owner and the comment move to the new table. */
function exchangeText({ name, time, until, ranges }: PartitionConversion): string {
  const suffix = "_before";
  const old = { ...name, table: `deneb_${shorten(name.table, LONGEST - suffix.length)}${suffix}` };
  const partitions = partitionedTable({
    name,
    columns: [],
    key: [],
    partitioning: { time, ranges: ranges.filter(({ from = "" }) => from >= until), hypertable: undefined },
  });
  return block(`
    DECLARE
      statement text;
      index_name text;
      later text[];
    BEGIN
      IF (SELECT relkind FROM pg_class WHERE oid = ${regclass(name)}) = 'p' THEN
        RETURN;
      END IF;
      IF NOT EXISTS (SELECT FROM pg_constraint WHERE ${isBound(name)} AND ${isUntil(until)} AND convalidated) THEN
        RAISE EXCEPTION 'another process works on the table; run the command again';
      END IF;
      SELECT array_agg(text ORDER BY place) INTO later FROM (
        SELECT 1 AS place, pg_get_indexdef(indexrelid) AS text FROM pg_index WHERE indrelid = ${regclass(name)} AND indisvalid
        UNION ALL
        SELECT 2, format('ALTER TABLE ${FORMAT} OWNER TO %I', ${nameOf(name)}, pg_get_userbyid(relowner))
        FROM pg_class WHERE oid = ${regclass(name)}
        UNION ALL
        SELECT 3, format('GRANT %s ON ${FORMAT} TO %s%s', a.privilege_type, ${nameOf(name)},
          CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
          CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
        FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = ${regclass(name)}
        UNION ALL
        SELECT 4, format('COMMENT ON TABLE ${FORMAT} IS %L', ${nameOf(name)}, obj_description(${regclass(name)}, 'pg_class'))
        UNION ALL
        SELECT DISTINCT 5, format('CREATE OR REPLACE VIEW %I.%I%s AS %s', n.nspname, v.relname,
          coalesce(' WITH (' || array_to_string(v.reloptions, ', ') || ')', ''), pg_get_viewdef(v.oid))
        FROM pg_depend d
        JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
        JOIN pg_class v ON v.oid = r.ev_class AND v.relkind = 'v'
        JOIN pg_namespace n ON n.oid = v.relnamespace
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = ${regclass(name)}) AS all_texts;
      FOR index_name IN SELECT format('%I.%I', n.nspname, i.relname) FROM pg_index x
        JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_namespace n ON n.oid = i.relnamespace
        WHERE x.indrelid = ${regclass(name)} LOOP
        EXECUTE format('ALTER INDEX %s RENAME TO %I', index_name, 'deneb_before_' || md5(index_name));
      END LOOP;
      ALTER TABLE ${path(name)} RENAME TO ${quoted(old.table)};
      CREATE TABLE ${path(name)} (LIKE ${path(old)} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMMENTS)
        ${partitions.clause};
      ALTER TABLE ${path(name)} ATTACH PARTITION ${path(old)} ${boundsText({ from: undefined, to: until }, time)};
      FOREACH statement IN ARRAY later LOOP EXECUTE statement; END LOOP;
      ALTER TABLE ${path(old)} DROP CONSTRAINT ${BOUND};
      ${partitions.more.map(({ text }) => `${text};`).join("\n      ")}
    END;`);
}

const LONGEST = nameLimits.postgresql.length - "deneb_".length;
const FORMAT = "%I.%I";

function nameOf({ schema, table }: TableName): string {
  return `${literal(schema)}, ${literal(table)}`;
}

function regclass(name: TableName): string {
  return `${literal(path(name))}::regclass`;
}
