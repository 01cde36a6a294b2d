/**
 * The schemas in which the sink looks for functions, operators and types. A name without a schema may mean what somebody else has put
 * into a schema of the database, such as a `format` for other arguments in `public`: it would run with the rights of the sink.
 * https://wiki.postgresql.org/wiki/A_Guide_to_CVE-2018-1058
 */
export const OF_THE_SERVER = "pg_catalog, pg_temp";

/** The same with the schema of PostGIS, which may be any, behind those of the server. */
export const WITH_EXTENSION = `
  SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', (
    SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e
    JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'postgis'), 'pg_temp'), true)`;
