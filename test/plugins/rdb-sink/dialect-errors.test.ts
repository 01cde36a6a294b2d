import assert from "node:assert/strict";
import { test } from "node:test";
import { mysql } from "../../../plugins/rdb-sink/mysql/dialect.js";
import { postgresql } from "../../../plugins/rdb-sink/postgresql/dialect.js";
import { sqlite } from "../../../plugins/rdb-sink/sqlite/dialect.js";

for (const dialect of [postgresql, mysql])
  test(`${dialect.database}: a name server that does not answer is not a host that is not known`, () => {
    const server = { address: "db.example:1", database: "d", username: "u", options: "" };
    const said = (code: string) => dialect.errors.explain({ code, message: "getaddrinfo" }, server);

    assert.match(said("EAI_AGAIN"), /the host of db.example:1 cannot be looked up now: no name server answers/);
    assert.match(said("ENOTFOUND"), /the host of db.example:1 is not known; check rdb_host/);
  });

for (const dialect of [postgresql, mysql])
  test(`${dialect.database}: a write that was aborted because it took too long does not send anybody to the network`, () => {
    const server = { address: "db.example:1", database: "d", username: "u", options: "" };
    const message = "a write to the database took longer than 5 milliseconds; raise rdb_statement_timeout";
    const said = dialect.errors.explain({ code: "STATEMENT_TIMEOUT", message }, server);

    assert.match(said, /^working with .* failed: .*; raise rdb_statement_timeout$/);
  });

const settingsOfMysql = [
  { code: "ER_INDEX_COLUMN_TOO_LONG", says: /does not take the keys .*; set innodb_default_row_format = dynamic/ },
  { code: "ER_TOO_LONG_KEY", says: /does not take the keys .*innodb_page_size of less than 16 KB/ },
  { code: "ER_MAX_PREPARED_STMT_COUNT_REACHED", says: /; raise max_prepared_stmt_count .*or lower rdb_maxPoolSize/ },
  { code: "ER_SECURE_TRANSPORT_REQUIRED", says: /takes no connection without TLS: .*; use sslMode=REQUIRED/ },
  { code: "ER_ACCOUNT_HAS_BEEN_LOCKED", says: /refuses the account: .*; ALTER USER .* ACCOUNT UNLOCK/ },
  {
    code: "ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK",
    says: /refuses the account: .*; ALTER USER .* ACCOUNT UNLOCK/,
  },
  { code: "ER_RUN_HOOK_ERROR", says: /in its group: .*; .*group_replication_transaction_size_limit/ },
  { code: "ER_SERVER_OFFLINE_MODE", says: /; set offline_mode = OFF there/ },
  { code: "ER_QUERY_TIMEOUT", says: /took too long: .*; raise max_execution_time/ },
  { code: "ER_1969", says: /took too long: .*max_statement_time \(MariaDB\)/ },
  { code: "ER_CLIENT_INTERACTION_TIMEOUT", says: /^the connection to .* broke: / },
] as const;

for (const { code, says } of settingsOfMysql)
  test(`mysql: an error of a setting of the server (${code}) names the setting`, () => {
    const server = { address: "db.example:1", database: "d", username: "u", options: "" };

    assert.match(mysql.errors.explain({ code, message: "as the server says it" }, server), says);
  });

test("mysql: a table that cannot get the hidden key of the server says how to go without", () => {
  const server = { address: "db.example:1", database: "d", username: "u", options: "" };
  const message =
    "This version of MySQL doesn't yet support 'generating invisible primary key for the partitioned tables'";

  assert.match(
    mysql.errors.explain({ code: "ER_NOT_SUPPORTED_YET", message }, server),
    /cannot add the key .*; set partition = none, or switch that variable and sql_require_primary_key off there$/,
  );
});

const faults = [
  { dialect: postgresql, code: "42P01", message: "", missing: true, raced: false, retryable: true },
  { dialect: postgresql, code: "42703", message: "", missing: true, raced: false, retryable: true },
  { dialect: postgresql, code: "3F000", message: "", missing: true, raced: false, retryable: true },
  { dialect: postgresql, code: "42P07", message: "", missing: false, raced: true, retryable: false },
  { dialect: postgresql, code: "23505", message: "", missing: false, raced: true, retryable: false },
  { dialect: postgresql, code: "40001", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "53100", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "57P01", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "57P02", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "57P03", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "57014", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "53200", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "53300", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "58030", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "08006", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "ECONNREFUSED", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "ETIMEDOUT", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "25006", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "28P01", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "3D000", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "42501", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "55P03", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: "22P05", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "23502", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "42804", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "54011", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "0A000", message: "", missing: false, raced: false, retryable: false },
  { dialect: postgresql, code: "EPIPE", message: "", missing: false, raced: false, retryable: true },
  { dialect: postgresql, code: undefined, message: "odd", missing: false, raced: false, retryable: true },
  { dialect: mysql, code: "ER_NO_SUCH_TABLE", message: "", missing: true, raced: false, retryable: true },
  { dialect: mysql, code: "ER_BAD_FIELD_ERROR", message: "", missing: true, raced: false, retryable: true },
  { dialect: mysql, code: "ER_BAD_DB_ERROR", message: "", missing: true, raced: false, retryable: true },
  { dialect: mysql, code: "ER_DUP_FIELDNAME", message: "", missing: false, raced: true, retryable: true },
  { dialect: mysql, code: "ER_LOCK_DEADLOCK", message: "", missing: false, raced: true, retryable: true },
  { dialect: mysql, code: "ER_LOCK_WAIT_TIMEOUT", message: "", missing: false, raced: false, retryable: true },
  { dialect: mysql, code: "ER_DATA_TOO_LONG", message: "", missing: false, raced: false, retryable: false },
  { dialect: mysql, code: "ER_TOO_BIG_ROWSIZE", message: "", missing: false, raced: false, retryable: false },
  {
    dialect: mysql,
    code: "ER_CANT_CREATE_TABLE",
    message: "Too many columns",
    missing: false,
    raced: false,
    retryable: false,
  },
  { dialect: mysql, code: "ER_CANT_CREATE_TABLE", message: "errno: 28", missing: false, raced: false, retryable: true },
  {
    dialect: mysql,
    code: "ER_INNODB_AUTOEXTEND_SIZE_OUT_OF_RANGE",
    message: "CONSTRAINT `t.j` fehlgeschlagen: `s`.`t`",
    missing: false,
    raced: false,
    retryable: false,
  },
  {
    dialect: mysql,
    code: "ER_IMPOSSIBLE_STRING_CONVERSION",
    message: "",
    missing: false,
    raced: false,
    retryable: false,
  },
  { dialect: mysql, code: "WARN_DATA_TRUNCATED", message: "", missing: false, raced: false, retryable: false },
  { dialect: mysql, code: "ECONNREFUSED", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_ERROR", message: "no such table: t", missing: true, raced: false, retryable: true },
  {
    dialect: sqlite,
    code: "SQLITE_ERROR",
    message: "table t has no column named a",
    missing: true,
    raced: false,
    retryable: true,
  },
  {
    dialect: sqlite,
    code: "SQLITE_ERROR",
    message: "duplicate column name: a",
    missing: false,
    raced: true,
    retryable: true,
  },
  {
    dialect: sqlite,
    code: "SQLITE_ERROR",
    message: "too many columns on t",
    missing: false,
    raced: false,
    retryable: false,
  },
  { dialect: sqlite, code: "SQLITE_BUSY", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_FULL", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_IOERR_WRITE", message: "", missing: false, raced: false, retryable: true },
  { dialect: sqlite, code: "SQLITE_TOOBIG", message: "", missing: false, raced: false, retryable: false },
  { dialect: sqlite, code: "SQLITE_CONSTRAINT_NOTNULL", message: "", missing: false, raced: false, retryable: false },
] as const;

for (const { dialect, code, message, ...expected } of faults)
  test(`what ${code ?? "no code"} ${message} means`, () => {
    const fault = { code, message };

    const { missing, raced, retryable } = dialect.errors;

    assert.deepEqual({ missing: missing(fault), raced: raced(fault), retryable: retryable(fault) }, expected);
  });

const place = { address: "db:5432", database: "d", username: "u", options: "" };

const explained = [
  {
    dialect: mysql,
    code: "ER_TOO_MANY_FIELDS",
    line: 'a table on the server at db:5432 as user "u" has too many columns: why; use attr_persistence = row for such entities',
  },
  {
    dialect: postgresql,
    code: "54011",
    line: 'a table of database "d" at db:5432 as user "u" has too many columns: why; use attr_persistence = row for such entities',
  },
  {
    dialect: postgresql,
    code: "54000",
    line: 'a row is larger than a table or an index of database "d" at db:5432 as user "u" takes: why; drop such an index, or use attr_persistence = row for such entities',
  },
  {
    dialect: postgresql,
    code: "53100",
    line: 'the disk of database "d" at db:5432 as user "u" is full; free space there',
  },
  { dialect: postgresql, code: "22003", line: 'working with database "d" at db:5432 as user "u" failed: why' },
  {
    dialect: postgresql,
    code: "22P05",
    line: 'database "d" at db:5432 as user "u" has no encoding for all characters: why; use a database with encoding UTF8',
  },
  {
    dialect: mysql,
    code: "ER_USER_LIMIT_REACHED",
    line: 'the server at db:5432 as user "u" has reached a limit of its account: why; raise it',
  },
  {
    dialect: sqlite,
    code: "SQLITE_FULL",
    line: 'the disk of the database files in "db:5432" is full, or a quota used up; free space, or inodes, there',
  },
] as const;

for (const { code, message } of [
  { code: "ER_TABLE_WITHOUT_PK", message: "Unable to create or change a table without a primary key" },
  { code: "ER_REQUIRES_PRIMARY_KEY", message: "This table type requires a primary key" },
  { code: "ER_BEFORE_DML_VALIDATION_ERROR", message: "The table does not comply with the requirements" },
  { code: "ER_4165", message: "Galera replication not supported" },
  { code: "ER_UNKNOWN_ERROR", message: "Percona-XtraDB-Cluster prohibits ... without an explicit primary key" },
])
  test(`${code} of a server that wants primary keys names what to set`, () =>
    assert.match(
      mysql.errors.explain({ code, message }, place),
      /takes no tables without a primary key, .*; set sql_generate_invisible_primary_key = ON .* or switch off .*sql_require_primary_key/,
    ));

test("a commit to a node that is outside of its cluster by now is reported as that", () => {
  const message =
    "Error while appending streaming replication fragment(provider status: Not connected to Primary Component)";

  const told = mysql.errors.explain({ code: "ER_ERROR_DURING_COMMIT", message }, place);

  assert.match(told, /takes no writes now \(read-only, or outside of its cluster\)/);
});

test("a transaction that is larger than Galera replicates is refused, so that its batch is divided, and names what to raise", () => {
  const error = { code: "ER_UNKNOWN_ERROR", message: "Maximum writeset size exceeded" };

  assert.equal(mysql.errors.retryable(error), false);
  assert.match(
    mysql.errors.explain(error, place),
    /^a row is larger than the cluster of .*; raise wsrep_max_ws_size on/,
  );
});

test("what another transaction has changed since a trigger read it is tried again at once, and says nothing about a table", () => {
  const error = { code: "ER_CHECKREAD", message: "Record has changed since last read in table 't'" };

  assert.deepEqual([mysql.errors.raced(error), mysql.errors.ofOnePlace?.(error)], [true, false]);
});

const endsOfCommits = [
  { code: "ER_TRANSACTION_ROLLBACK_DURING_COMMIT", message: "Plugin instructed the server to rollback", raced: true },
  { code: "ER_ERROR_DURING_COMMIT", message: "Got error 149 - 'Lock deadlock' during COMMIT", raced: true },
  { code: "ER_ERROR_DURING_COMMIT", message: "Got error 168 - 'Unknown error' during COMMIT", raced: false },
];

for (const { raced, ...error } of endsOfCommits) {
  const then = raced ? "is tried again at once" : "waits";
  test(`a commit that ends with "${error.message}" ${then}, and says nothing about a table`, () => {
    assert.deepEqual(
      [mysql.errors.raced(error), mysql.errors.ofOnePlace?.(error), mysql.errors.retryable(error)],
      [raced, false, true],
    );
  });
}

test("a way to log in that the driver does not have, as parsec of MariaDB, is named with those that it has", () => {
  const message = "Server requests authentication using unknown plugin parsec";

  assert.match(
    mysql.errors.explain({ code: "AUTH_SWITCH_PLUGIN_ERROR", message }, place),
    /a way that Deneb does not have: .* unknown plugin parsec; give the account mysql_native_password .*, and check rdb_username/,
  );
});

test("an account that logs in by the socket of the server alone is not taken for a wrong password", () => {
  const message = "Access denied for user 'root'@'localhost'";
  const said = mysql.errors.explain({ code: "ER_ACCESS_DENIED_NO_PASSWORD_ERROR", message }, place);

  assert.match(said, /does not let the account log in by a password, .*unix_socket.*; make a user with a password/);
});

for (const code of [
  "ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX",
  "ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX",
  "ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG",
  "ER_EXCEEDED_MV_KEYS_NUM",
  "ER_DATETIME_FUNCTION_OVERFLOW",
  "ER_LONGITUDE_OUT_OF_RANGE",
  "ER_MISSING_JSON_VALUE",
  "ER_6138",
])
  test(`${code} of MySQL stays with the row when other tables take theirs`, () =>
    assert.equal(mysql.errors.doubtful?.({ code, message: "" }), true));

test("a limit of an account, and a conflict in a group, say nothing about a table", () => {
  for (const code of ["ER_USER_LIMIT_REACHED", "ER_TRANSACTION_ROLLBACK_DURING_COMMIT"])
    assert.equal(mysql.errors.ofOnePlace?.({ code, message: "" }), false, code);
});

const full = [
  // Seen with MariaDB 10.11 on a disk with 8 to 40 KB left, and on a full one; then in words of other versions.
  {
    dialect: mysql,
    code: "ER_CANT_CREATE_TABLE",
    said: `Can't create table \`a\`.\`n\` (errno: 135 "No more room in record file")`,
  },
  { dialect: mysql, code: "EE_WRITE", said: `Error writing file './a/n.frm' (Errcode: 28 "No space left on device")` },
  { dialect: mysql, code: "ER_GET_ERRNO", said: `Got error 28 "No space left on device" from storage engine Aria` },
  { dialect: mysql, code: "ER_CANT_CREATE_FILE", said: "Can't create file './a' (OS errno 122 - Disk quota exceeded)" },
  { dialect: postgresql, code: "XX000", said: 'could not extend file "base/5/16385_fsm": Disk quota exceeded' },
] as const;

for (const { dialect, code, said: message } of full)
  test(`${dialect.database}: ${code} of a full disk is waited for, whatever other tables take`, () => {
    const { errors } = dialect;

    assert.match(errors.explain({ code, message }, place), /^the disk of .* is full; free space there/);
    assert.deepEqual(
      [
        errors.retryable({ code, message }),
        errors.ofOnePlace?.({ code, message }),
        errors.doubtful?.({ code, message }),
      ],
      [true, false, false],
    );
  });

test("a number of the system in the words of a trigger, and one that is of a single file, are no full disk", () => {
  for (const { code, message } of [
    { code: "ER_SIGNAL_EXCEPTION", message: "no (errno: 28)" },
    { code: "ER_CANT_CREATE_TABLE", message: 'Can\'t create table `a`.`n` (errno: 140 "Wrong create options")' },
    {
      code: "ER_CANT_CREATE_TABLE",
      message: 'Can\'t create table `a (errno: 28)`.`n` (errno: 140 "Wrong create options")',
    },
  ])
    assert.equal(mysql.errors.ofOnePlace?.({ code, message }), true, message);
});

test("a lock that somebody holds for longer than MySQL waits is named as that, with where to look", () => {
  const message = "Lock wait timeout exceeded; try restarting transaction";

  const told = mysql.errors.explain({ code: "ER_LOCK_WAIT_TIMEOUT", message }, place);

  assert.match(
    told,
    /^somebody keeps rows or a table of .* locked: .*; end that transaction \(SHOW FULL PROCESSLIST\)/,
  );
});

test("a file system that the system made read-only is no missing right", () => {
  const error = { code: "42501", message: 'could not open file "base/5/16385": Read-only file system' };

  assert.equal(postgresql.errors.ofOnePlace?.(error), false);
  assert.match(
    postgresql.errors.explain(error, place),
    /^the system refuses database "d" .* its work: .*Read-only file system/,
  );
});

for (const { dialect, code, message } of [
  {
    dialect: postgresql,
    code: "42P10",
    message: "there is no unique constraint matching the ON CONFLICT specification",
  },
  { dialect: sqlite, code: "SQLITE_ERROR", message: "ON CONFLICT clause does not match any PRIMARY KEY" },
])
  test(`${code} of a table of last data with another key names what to set`, () =>
    assert.match(
      dialect.errors.explain({ code, message }, place),
      /has no unique key over last_data_unique_key, .*: .*ON CONFLICT.*; set another last_data_table_suffix/,
    ));

for (const { dialect, code, line } of explained)
  test(`${code} is explained in one line`, () =>
    assert.equal(dialect.errors.explain({ code, message: "why" }, place), line));
