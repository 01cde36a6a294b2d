// What variables of the images of the predecessor mean here.

/** Variables of the process that stand for others, for all commands. */
const RENAMED = {
  CYGNUS_API_PORT: "DENEB_MANAGEMENT_PORT",
  AGENT_API_PORT: "DENEB_MANAGEMENT_PORT",
  CYGNUS_LOG_LEVEL: "DENEB_LOG_LEVEL",
  AGENT_LOG_LEVEL: "DENEB_LOG_LEVEL",
};

const LEVELS = { ALL: "debug", TRACE: "debug", WARNING: "warn", FATAL: "error", OFF: "error" };

/** The host of a database was the switch that turned its sink on; each comes with what the sink then is. */
const HOSTS = [
  { prefix: "AGENT_RDB", sink: { AGENT_RDB_DIALECT: "postgresql" } },
  { prefix: "CYGNUS_POSTGRESQL", sink: { AGENT_RDB_DIALECT: "postgresql" } },
  { prefix: "CYGNUS_POSTGIS", sink: { AGENT_RDB_DIALECT: "postgresql", AGENT_RDB_ATTR_GEOMETRY: "true" } },
  { prefix: "CYGNUS_MYSQL", sink: { AGENT_RDB_DIALECT: "mysql" } },
];
const NO_HOST = { AGENT_RDB_DIALECT: "sqlite" };

/** Variables without effect, and what to use instead; the first pattern that fits counts. */
const WITHOUT_EFFECT = [
  [/^CYGNUS_(MONGO|STH|CKAN|HDFS|CARTO|ORION|ELASTICSEARCH|ARCGIS)_/, "there is no such sink"],
  [/^CYGNUS_JAVA_OPTS$/, "limit the memory of the container, or set NODE_OPTIONS=--max-old-space-size=MEBIBYTES"],
  [/^CYGNUS_(AGENT_NAME|CONF_PATH|CONF_FILE)$/, "mount your file as /etc/deneb/agent.properties"],
  [/^CYGNUS_MULTIAGENT$/, "start one container for each agent"],
  [/^CYGNUS_(\w+_)?SERVICE_PORT$/, "set AGENT_SERVICE_PORT, or publish another port of the host"],
  [/^CYGNUS_MONITORING_TYPE$/, "read the metrics of the management interface at /metrics"],
  [/^CYGNUS_LOG_APPENDER$/, "mount a logging file as /etc/deneb/logging.json"],
  [/_SKIP_(CONF|NAME_MAPPINGS)_GENERATION$/, "a mounted file is never changed"],
];

/**
 * The variables to add to an environment, the names that stood for them, and lines for people. `choosesDatabase`: the properties
 * file takes the kind of database from the environment.
 */
export function takenOver(env, choosesDatabase) {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parts = [ofTheProcess(set), withoutEffect(set), choosesDatabase ? ofTheDatabase(set) : {}];
  const variables = Object.assign({}, ...parts.map((part) => part.variables));
  const { stoodFor } = parts[0];
  return { variables, stoodFor, notices: parts.flatMap(({ notices = [] }) => notices) };
}

function ofTheProcess(env) {
  const given = Object.entries(RENAMED).filter(([old, name]) => old in env && !(name in env));
  const values = given.map(([old, name]) => [old, name, name === "DENEB_LOG_LEVEL" ? levelOf(env[old]) : env[old]]);
  return {
    variables: Object.fromEntries(values.map(([, name, value]) => [name, value])),
    stoodFor: values.map(([old]) => old),
    notices: values.map(([old, name, value]) => `${old} is read as ${name}=${value}`),
  };
}

function levelOf(text) {
  return LEVELS[text.toUpperCase()] ?? text.toLowerCase();
}

function withoutEffect(env) {
  const found = Object.keys(env).map((name) => [name, insteadOf(name)]);
  const idle = found.filter(([, remedy]) => remedy !== undefined);
  return { notices: idle.map(([name, remedy]) => `${name} has no effect: ${remedy}`).sort() };
}

function insteadOf(name) {
  return WITHOUT_EFFECT.find(([pattern]) => pattern.test(name))?.[1];
}

function ofTheDatabase(env) {
  const chosen = HOSTS.find(({ prefix }) => `${prefix}_HOST` in env);
  const wanted = chosen === undefined ? NO_HOST : { ...chosen.sink, ...renamed(env, chosen.prefix) };
  const isSilent = chosen !== undefined || "AGENT_RDB_DIALECT" in env;
  const own = new Set(Object.keys(env).map(settingOf));
  return {
    variables: Object.fromEntries(Object.entries(wanted).filter(([name]) => !own.has(settingOf(name)))),
    notices: isSilent
      ? furtherHosts(env, chosen)
      : ["AGENT_RDB_HOST is not set: rows go to SQLite files in the data directory"],
  };
}

/** A secret and the file that holds it are one setting, which the agent takes from one of the two alone. */
function settingOf(name) {
  return name.replace(/_FILE$/, "");
}

/** Each host turned on a sink of its own there; the file of the image has one. */
function furtherHosts(env, chosen) {
  const further = HOSTS.filter((host) => chosen !== undefined && host !== chosen && `${host.prefix}_HOST` in env);
  const remedy = "for a sink of each mount a file with both as /etc/deneb/agent.properties";
  return further.map(({ prefix }) => `${prefix}_HOST has no effect beside ${chosen.prefix}_HOST: ${remedy}`);
}

/** The variables of a database of the predecessor, under the names that the file of the image and the sink read. */
function renamed(env, prefix) {
  const all = Object.entries(env).filter(([name]) => name.startsWith(`${prefix}_`));
  const own = all.filter(([name]) => insteadOf(name) === undefined);
  return Object.fromEntries(own.map(([name, value]) => [name.replace(prefix, "AGENT_RDB"), value]));
}
