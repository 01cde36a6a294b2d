import { logChannelFaults, logChannelProperties } from "deneb/log";
import { type ConfigOf, checkTls, type PropertyFault, type Schema, tlsProperties } from "deneb/sdk";

/** NATS keeps streams in folders of their name; longer ones fail on some file systems. */
const LONGEST_NAME = 64;
const MOST_PARTITIONS = 10_000;
const MOST_REPLICAS = 5;

export const jetstreamSchema = {
  servers: {
    doc: "Servers of the NATS cluster, separated by blanks or commas: nats://host:port, or tls://host:port for TLS. Without a port 4222.",
    format: "words",
  },
  stream: {
    doc: "Stream that holds the events; all agents that share it name the same one. Its subjects begin with this name.",
    format: "text",
  },
  partitions: {
    doc: "Partitions of the stream, the most agents that store at the same time. Fixed when the stream is made; the same for all agents.",
    format: "count",
    default: 8,
    min: 1,
    max: MOST_PARTITIONS,
  },
  replicas: {
    doc: "Servers that hold a copy of the stream when the agent makes it. With 1 an acknowledged event can be lost with its machine.",
    format: "count",
    default: 1,
    min: 1,
    max: MOST_REPLICAS,
  },
  create_stream: {
    doc: "true: a missing stream is made. false: it must be there.",
    format: "flag",
    default: true,
  },
  max_bytes: {
    doc: "Most bytes of the stream when the agent makes it; a tenth of them is kept for reports of the agents, and when the rest is full nothing is accepted. 0 for as many as the servers allow.",
    format: "count",
    default: 0,
  },
  username: {
    doc: "User at the servers; empty for none.",
    format: "text",
    default: "",
    env: "AGENT_NATS_USER",
    envFile: "AGENT_NATS_USER_FILE",
  },
  password: {
    doc: "Password of the user.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_NATS_PASS",
    envFile: "AGENT_NATS_PASS_FILE",
  },
  token: {
    doc: "Token that the servers ask for instead of a user; empty for none.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_NATS_TOKEN",
    envFile: "AGENT_NATS_TOKEN_FILE",
  },
  credentials_file: {
    doc: "Credentials file of a user (JWT and seed), as nsc writes it, or a file with the seed of a user that has an nkey alone; empty for none.",
    format: "text",
    default: "",
    sensitive: true,
  },
  request_timeout: {
    doc: "Milliseconds within which a server must answer, repetitions and connecting included.",
    format: "millis",
    default: 5000,
    min: 100,
    max: 60_000,
  },
  ...tlsProperties,
  ...logChannelProperties,
} as const satisfies Schema;

export type JetStreamConfig = ConfigOf<typeof jetstreamSchema>;

type Fault = PropertyFault<typeof jetstreamSchema>;

export function checkJetStream(config: JetStreamConfig): readonly Fault[] {
  return [
    ...(config.servers.length === 0 ? reasonFault("servers", "must name a server") : []),
    ...config.servers.flatMap((server) => reasonFault("servers", addressFault(server))),
    ...reasonFault("stream", streamFault(config.stream)),
    ...credentialFaults(config),
    ...checkTls(config),
    ...logChannelFaults(config),
  ];
}

function reasonFault(property: Fault["property"], reason: string | undefined): readonly Fault[] {
  return reason === undefined ? [] : [{ property, reason }];
}

/** The client takes any scheme for its own: what it would not understand is refused here. */
function addressFault(server: string): string | undefined {
  const text = server.includes("://") ? server : `nats://${server}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^(?:nats|tls):$/.test(url.protocol) || url.hostname === "") {
    return "must be nats://host:port or tls://host:port";
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user or password; use username and password";
  return /^\/?$/.test(url.pathname) && url.search === "" ? undefined : "must end after the port";
}

/** The name is the first word of subjects, too, and part of the id of the log. */
function streamFault(stream: string): string | undefined {
  if (stream.length > LONGEST_NAME) return `must have at most ${LONGEST_NAME} characters`;
  return /^[A-Za-z0-9_-]+$/.test(stream) ? undefined : "may hold letters, digits, - and _ only";
}

function credentialFaults({ username, password, token, credentials_file }: JetStreamConfig): readonly Fault[] {
  const ways = [username, token, credentials_file].filter((value) => value !== "").length;
  return [
    ...(ways > 1
      ? reasonFault("username", "must not be given with token or credentials_file: one of them is enough")
      : []),
    ...(password !== "" && username === "" ? reasonFault("password", "must be given with username") : []),
  ];
}
