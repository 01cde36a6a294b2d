/** The databases that a starter file can be for. */
export const starterDatabases = ["embedded", "postgresql", "mysql"] as const;

export type StarterDatabase = (typeof starterDatabases)[number];

/** The text of a properties file to start with: it runs, and its comments hold what is changed most. */
export function starterFile(agent: string, database: StarterDatabase): string {
  const text = [start, source, channel, sink, databases[database], rows, delivery].join("\n\n");
  return `${text.replaceAll("AGENT.", `${agent}.`)}\n`;
}

const start = `# What an agent of Deneb receives, keeps and stores. Check it with "deneb check --config FILE", run it with
# "deneb run --config FILE"; when this file changes, the running agent reloads it.
#
# Every key is <agent>.<sources|channels|sinks>.<component>.<property>. Lines of properties that begin with # have no effect
# until the # is removed. A value may hold \${env:NAME} or \${env:NAME:-default}. All properties: docs/reference.

AGENT.sources = http-source
AGENT.channels = file-channel
AGENT.sinks = rdb-sink`;

const source = `# The source receives notifications: subscribe the context broker with http://<this host>:5050/notify
AGENT.sources.http-source.type = http
AGENT.sources.http-source.channels = file-channel
AGENT.sources.http-source.port = 5050
# Only from this machine; without it, from everywhere.
# AGENT.sources.http-source.bind = 127.0.0.1
# Only with this token, as "Authorization: Bearer <token>" or "X-Auth-Token".
# AGENT.sources.http-source.token = \${env:AGENT_HTTP_TOKEN}

# The handler makes one event of each entity of a notification. The body says whether it is NGSI-LD, v2 or v1.
AGENT.sources.http-source.handler = ngsi
AGENT.sources.http-source.handler.ngsi_version = auto
AGENT.sources.http-source.handler.notification_target = /notify
# The service of notifications without the header Fiware-Service.
AGENT.sources.http-source.handler.default_service = openiot`;

const channel = `# The channel keeps the events until they are stored. On disk, below the data directory: what the broker was answered 200
# for survives a crash. With type = memory it does not.
AGENT.channels.file-channel.type = file
# Events that wait at most, for example while the database is away; then the broker is answered 503.
AGENT.channels.file-channel.capacity = 1000000`;

const sink = `# The sink stores the events.
AGENT.sinks.rdb-sink.type = rdb
AGENT.sinks.rdb-sink.channel = file-channel`;

const overridden = `# The variables AGENT_RDB_HOST, AGENT_RDB_PORT, AGENT_RDB_DATABASE, AGENT_RDB_USER, AGENT_RDB_PASS and AGENT_RDB_OPTIONS
# take precedence over this file where they are set.`;

const databases: Readonly<Record<StarterDatabase, string>> = {
  embedded: `# SQLite files that need no server, one for each service, in the data directory. Any SQLite tool reads them while the agent
# writes, and so does: deneb sql "select ..."
AGENT.sinks.rdb-sink.rdb_dialect = sqlite`,
  postgresql: `# A PostgreSQL server. The database exists; schemas and tables are created when they are first needed.
${overridden}
AGENT.sinks.rdb-sink.rdb_dialect = postgresql
AGENT.sinks.rdb-sink.rdb_host = localhost
AGENT.sinks.rdb-sink.rdb_port = 5432
AGENT.sinks.rdb-sink.rdb_database = postgres
# It needs the right to create schemas in the database, and no other.
AGENT.sinks.rdb-sink.rdb_username = postgres
# Set AGENT_RDB_PASS rather than writing the password here.
AGENT.sinks.rdb-sink.rdb_password = \${env:AGENT_RDB_PASS:-}
# TLS if the server has it. Over a network: require, or verify-full with sslrootcert=<file>.
AGENT.sinks.rdb-sink.rdb_options = sslmode=prefer
# Geometries as columns of PostGIS, where the server has it.
# AGENT.sinks.rdb-sink.attr_geometry = true`,
  mysql: `# A MySQL or MariaDB server. Each service is a database; databases and tables are created when they are first needed.
${overridden}
AGENT.sinks.rdb-sink.rdb_dialect = mysql
AGENT.sinks.rdb-sink.rdb_host = localhost
AGENT.sinks.rdb-sink.rdb_port = 3306
# It needs the right to create databases.
AGENT.sinks.rdb-sink.rdb_username = root
# Set AGENT_RDB_PASS rather than writing the password here.
AGENT.sinks.rdb-sink.rdb_password = \${env:AGENT_RDB_PASS:-}
# TLS if the server has it. Over a network: REQUIRED, or VERIFY_IDENTITY with sslrootcert=<file>.
AGENT.sinks.rdb-sink.rdb_options = sslMode=PREFERRED`,
};

const rows = `# One table for each entity, with a column for each attribute; a new attribute is a new column.
AGENT.sinks.rdb-sink.data_model = dm-by-entity
# One table for each entity type instead.
# AGENT.sinks.rdb-sink.data_model = dm-by-entity-type
AGENT.sinks.rdb-sink.attr_persistence = column
# Numbers, booleans and times in columns of these types instead of text, from the first row on.
# AGENT.sinks.rdb-sink.attr_native_types = true
# When the broker sent the notification, for which subscription, and a number that orders rows of one millisecond.
AGENT.sinks.rdb-sink.notification_columns = notifiedAt subscriptionId sequence
# Rows are deleted after this many days.
# AGENT.sinks.rdb-sink.retention_days = 365`;

const delivery = `# Events that trigger a write, and seconds after which fewer are written; what waits is always written together.
# AGENT.sinks.rdb-sink.batch_size = 100
# AGENT.sinks.rdb-sink.batch_timeout = 5`;
