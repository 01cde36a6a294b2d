import type { KernelProperty } from "./kernel-property.js";
import { managementProperties } from "./management-properties.js";

/** The settings of the agent process. A new one is an entry here: its option, variable and documentation follow from it. */
export const kernelProperties = {
  managementHost: {
    option: "--management-host <host>",
    doc: "Address the management interface listens on. The default is reachable from this machine only.",
    format: "text",
    default: "127.0.0.1",
    env: "DENEB_MANAGEMENT_HOST",
  },
  managementPort: {
    option: "-p, --management-port <port>",
    doc: "Port of the management interface; 0 lets the system choose.",
    format: "port",
    default: 5080,
    env: "DENEB_MANAGEMENT_PORT",
  },
  dataDir: {
    option: "--data-dir <folder>",
    doc: "Folder for everything the agent keeps on disk: embedded databases, durable channels, dead letters.",
    format: "text",
    default: "data",
    env: "DENEB_DATA_DIR",
  },
  workers: {
    option: "--workers <number>",
    doc: "Number of processes that receive and store, for more than one core. They share the ports of HTTP sources; each has its own channels.",
    format: "count",
    default: 1,
    min: 1,
    max: 64,
    env: "DENEB_WORKERS",
  },
  gracePeriodSeconds: {
    option: "--grace-period <seconds>",
    doc: "Seconds a stopping agent may take to store the events it has accepted.",
    format: "seconds",
    default: 30,
    env: "DENEB_GRACE_PERIOD",
  },
  startTimeoutSeconds: {
    option: "--start-timeout <seconds>",
    doc: "Seconds the start of a source or sink may take. After that the agent runs without it and reports it; a sink is started again with its next batch. 0 is no limit.",
    format: "seconds",
    default: 30,
    max: 86_400,
    env: "DENEB_START_TIMEOUT",
  },
  lockWaitSeconds: {
    option: "--lock-wait <seconds>",
    doc: "Seconds a starting agent waits for another process that uses its data directory or the folders of a channel; then it ends with exit code 3.",
    format: "seconds",
    default: 10,
    max: 86_400,
    env: "DENEB_LOCK_WAIT",
  },
  reloadIntervalSeconds: {
    option: "--reload-interval <seconds>",
    doc: "Reload interval: seconds between checks of the properties file; a changed file is reloaded. 0 turns the checks off; SIGHUP reloads in either case.",
    format: "seconds",
    default: 30,
    max: 86_400,
    env: "DENEB_RELOAD_INTERVAL",
  },
  deadLetterDays: {
    option: "--dead-letter-days <days>",
    doc: "Days after which a dead letter is removed, if it is still that old after a day of uptime; 0 removes none.",
    format: "count",
    default: 0,
    env: "DENEB_DEAD_LETTER_DAYS",
  },
  deadLetterBytes: {
    option: "--dead-letter-bytes <bytes>",
    doc: "Maximum size in bytes of the open dead letters of one sink. A sink that needs more stores nothing until some are replayed or dropped; its events wait in the channel. 0 is no limit.",
    format: "count",
    default: 1_073_741_824,
    env: "DENEB_DEAD_LETTER_BYTES",
  },
  deadLetterReplay: {
    option: "--dead-letter-replay <flag>",
    doc: "Whether the agent replays dead letters whose retry limit was reached when their sink stores again.",
    format: "flag",
    default: true,
    env: "DENEB_DEAD_LETTER_REPLAY",
  },
  logLevel: {
    option: "--log-level <level>",
    doc: "Minimum log level. When given, it takes precedence over the level of the root logger in the logging file.",
    format: ["debug", "info", "warn", "error"],
    default: "info",
    env: "DENEB_LOG_LEVEL",
  },
  logFormat: {
    option: "--log-format <format>",
    doc: "How console appenders write: json, one object per line; pretty, for people; auto, pretty on a terminal where the logging file says json or nothing. json and pretty take precedence over the layouts of the logging file.",
    format: ["auto", "json", "pretty"],
    default: "auto",
    env: "DENEB_LOG_FORMAT",
  },
  tracing: {
    option: "--tracing <flag>",
    doc: "Whether notifications and batches are traced by OpenTelemetry. Its packages must be installed; its variables, such as OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_TRACES_SAMPLER, set the rest.",
    format: "flag",
    default: false,
    env: "DENEB_TRACING",
  },
  tracingParents: {
    option: "--tracing-parents <use>",
    doc: "What a traceparent of a notification means. continue: its trace is continued, and its sender decides whether it is sampled. link: a new trace begins, with a link to it. ignore: a new trace begins.",
    format: ["continue", "link", "ignore"],
    default: "continue",
    env: "DENEB_TRACING_PARENTS",
  },
  ...managementProperties,
  logging: {
    option: "--logging <file>",
    doc: "Logging file (JSON): appenders, and levels of loggers. It need not exist; the management interface edits it.",
    format: "text",
    default: "config/logging.json",
    env: "DENEB_LOGGING",
  },
} as const satisfies Readonly<Record<string, KernelProperty>>;

/** Folders of plugins besides the agent's own: those of the command line, then those of this variable. */
export const pluginFoldersProperty = {
  option: "--plugins <folder...>",
  doc: `Folders with plugins besides the agent's own. The environment variable separates them as PATH does; its folders follow those of the command line.`,
  env: "DENEB_PLUGINS",
} as const;

/** Packages with plugins: those of the command line, then those of this variable. */
export const pluginPackagesProperty = {
  option: "--plugin-packages <name...>",
  doc: "Names of installed npm packages with plugins, looked for from the working directory, then from the folder of the properties file. Those of the environment variable follow those of the command line.",
  env: "DENEB_PLUGIN_PACKAGES",
} as const;
