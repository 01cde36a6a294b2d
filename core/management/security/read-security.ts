import { readFile } from "node:fs/promises";
import { AgentError, type Logger, pemFault } from "../../sdk/index.js";
import type { AccessTokens } from "./access.js";
import { TokensInUse } from "./tokens-in-use.js";

interface TokenSettings {
  readonly managementReadTokens: readonly string[];
  readonly managementReadTokensFile: string;
  readonly managementAdminTokens: readonly string[];
  readonly managementAdminTokensFile: string;
}

/** The settings of the kernel that concern security. */
interface SecuritySettings extends TokenSettings {
  readonly managementTlsKey: string;
  readonly managementTlsCertificate: string;
  readonly managementTlsClientCa: string;
  readonly brokerTargets: readonly string[];
}

export interface TlsMaterial {
  readonly key: string;
  readonly cert: string;
  /** Clients must have a certificate that one of these authorities signed. */
  readonly ca: string | undefined;
}

export interface Security {
  readonly tokens: TokensInUse;
  readonly tls: TlsMaterial | undefined;
  readonly brokerTargets: readonly string[];
}

type ReadText = (path: string) => string;

/** Reads the files that the settings name. Throws when one cannot be read or a pair is incomplete. */
export function readSecurity(settings: SecuritySettings, readText: ReadText): Security {
  const tokens = new TokensInUse(readTokens(settings, readText));
  const tls = readTls(settings, readText);
  return { tokens, tls, brokerTargets: settings.brokerTargets };
}

function readTokens(settings: TokenSettings, readText: ReadText): AccessTokens {
  return {
    read: [...settings.managementReadTokens, ...tokensIn(settings.managementReadTokensFile, readText)],
    admin: [...settings.managementAdminTokens, ...tokensIn(settings.managementAdminTokensFile, readText)],
  };
}

interface Following {
  readonly log: Logger;
  /** Milliseconds between two looks; ten seconds when absent. */
  readonly lookMillis?: number;
}

/** Follows the files of tokens, where there are any, until what it returns is called. */
export function followTokens(
  { tokens }: Security,
  settings: TokenSettings,
  { log, lookMillis }: Following,
): () => void {
  const files = [settings.managementReadTokensFile, settings.managementAdminTokensFile];
  if (files.every((file) => file === "")) return () => {};
  return tokens.follow(async () => readTokens(settings, await textsOf(files)), log, lookMillis);
}

function tokensIn(file: string, readText: ReadText): readonly string[] {
  if (file === "") return [];
  const tokens = textOf(file, readText)
    .split(/\s+/)
    .filter((token) => token !== "");
  if (tokens.length > 0) return tokens;
  throw new AgentError("NO_TOKENS", `reading tokens from "${file}", which is empty: write one token a line`, {
    retryable: false,
  });
}

function readTls(settings: SecuritySettings, readText: ReadText): TlsMaterial | undefined {
  const { managementTlsKey: key, managementTlsCertificate: certificate, managementTlsClientCa: ca } = settings;
  if (key === "" && certificate === "" && ca === "") return undefined;
  if (key === "" || certificate === "") {
    const remedy = "give both --management-tls-key and --management-tls-certificate, or none of the TLS options";
    throw new AgentError("TLS_INCOMPLETE", `setting up TLS of the management interface (${remedy})`, {
      retryable: false,
    });
  }
  return {
    key: textOf(key, readText),
    cert: textOf(certificate, readText),
    ca: ca === "" ? undefined : textOf(ca, readText),
  };
}

/** Reads the files of TLS while the interface runs: undefined without TLS. Rejects where the start would. */
export async function tlsNow(settings: SecuritySettings): Promise<TlsMaterial | undefined> {
  const { managementTlsKey, managementTlsCertificate, managementTlsClientCa } = settings;
  const tls = readTls(settings, await textsOf([managementTlsKey, managementTlsCertificate, managementTlsClientCa]));
  checkTls(tls);
  return tls;
}

async function textsOf(files: readonly string[]): Promise<ReadText> {
  const texts = new Map<string, string>();
  for (const file of files) if (file !== "") texts.set(file, await readFile(file, "utf8"));
  return (file) => texts.get(file) ?? "";
}

/** Throws code `TLS_UNUSABLE` for material that no server can use. Checked at the start, since the server is created later. */
export function checkTls(tls: TlsMaterial | undefined): void {
  if (tls === undefined) return;
  const fault = pemFault(tls);
  if (fault === undefined) return;
  const reason = `the file of ${options[fault.file]} cannot be used: ${fault.reason}`;
  throw new AgentError("TLS_UNUSABLE", `setting up TLS of the management interface: ${reason}`, { retryable: false });
}

const options = {
  key: "--management-tls-key",
  cert: "--management-tls-certificate",
  ca: "--management-tls-client-ca",
} as const;

function textOf(file: string, readText: ReadText): string {
  try {
    return readText(file);
  } catch (cause) {
    throw new AgentError("FILE_UNREADABLE", `reading "${file}" for the management interface`, {
      cause,
      retryable: false,
    });
  }
}
