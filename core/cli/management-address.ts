import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import { AgentError } from "../sdk/index.js";
import type { ManagementAddress } from "./ask-management.js";
import type { Terminal } from "./command.js";

/** How a command reaches a running agent. */
export interface ManagementAddressOptions {
  readonly managementHost?: string;
  readonly managementPort?: string;
  readonly tls?: boolean;
  readonly caFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly tokenFile?: string;
}

/** The variable of each option. A token has no option: other users see command lines. */
const clientVariables = {
  token: "DENEB_MANAGEMENT_TOKEN",
  tokenFile: "DENEB_MANAGEMENT_TOKEN_FILE",
  caFile: "DENEB_MANAGEMENT_CA_FILE",
  clientCert: "DENEB_MANAGEMENT_CLIENT_CERT",
  clientKey: "DENEB_MANAGEMENT_CLIENT_KEY",
} as const;

/** Adds the options of a command that calls a running agent. */
export function withManagementAddress(command: Command): Command {
  return command
    .option("-p, --management-port <port>", "port of the agent's management interface (default: 5080)")
    .option("--management-host <host>", "address of the agent's management interface (default: 127.0.0.1)")
    .option("--tls", "use HTTPS; implied by --ca-file and --client-cert")
    .option("--ca-file <file>", "PEM file with the CA of the agent's certificate")
    .option("--client-cert <file>", "PEM file with the client certificate")
    .option("--client-key <file>", "PEM file with its key")
    .option("--token-file <file>", "file with the token; DENEB_MANAGEMENT_TOKEN holds the token itself");
}

/** True when an option names a running agent. */
export function namesAgent(options: ManagementAddressOptions): boolean {
  const { managementHost, managementPort, tls, caFile, clientCert, tokenFile } = options;
  return [managementHost, managementPort, tls, caFile, clientCert, tokenFile].some((given) => given !== undefined);
}

/** From the options, else the variables of the command, else the settings of the agent in the same environment. */
export function managementAddress(
  options: ManagementAddressOptions,
  settings: KernelSettings,
  { env }: Terminal,
): ManagementAddress {
  const given = (option: string | undefined, variable: string) => option || env[variable] || undefined;
  const ca = given(options.caFile, clientVariables.caFile);
  const cert = given(options.clientCert, clientVariables.clientCert);
  const key = given(options.clientKey, clientVariables.clientKey);
  if ((cert === undefined) !== (key === undefined)) {
    const message = "reaching the agent with a client certificate: give both --client-cert and --client-key";
    throw new AgentError("CLIENT_CERTIFICATE_INCOMPLETE", message, { retryable: false });
  }
  const isTls = options.tls === true || ca !== undefined || cert !== undefined || settings.managementTlsKey !== "";
  const tls = { ca: contentOf(ca), cert: contentOf(cert), key: contentOf(key) };
  return {
    host: settings.managementHost,
    port: settings.managementPort,
    token: tokenOf(given(options.tokenFile, clientVariables.tokenFile), settings, env[clientVariables.token]),
    tls: isTls ? tls : undefined,
  };
}

function tokenOf(file: string | undefined, settings: KernelSettings, variable: string | undefined): string | undefined {
  if (file !== undefined) return firstToken(file);
  if (variable !== undefined && variable !== "") return checked(variable.trim(), clientVariables.token);
  const { managementAdminTokens, managementAdminTokensFile } = settings;
  const [token] = managementAdminTokens;
  if (token !== undefined) return token;
  return managementAdminTokensFile === "" ? undefined : firstToken(managementAdminTokensFile);
}

function firstToken(file: string): string {
  const token = contentOf(file)?.trim().split(/\s+/)[0] ?? "";
  if (token === "")
    throw new AgentError("NO_TOKENS", `reading a token from "${file}", which is empty`, { retryable: false });
  return checked(token, `"${file}"`);
}

/** A header takes only visible characters. */
function checked(token: string, origin: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new AgentError(
    "TOKEN_UNUSABLE",
    `reading a token from ${origin}: it holds characters that are not allowed in a header`,
    { retryable: false },
  );
}

function contentOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new AgentError("FILE_UNREADABLE", `reading "${file}" to reach the agent`, { cause, retryable: false });
  }
}
