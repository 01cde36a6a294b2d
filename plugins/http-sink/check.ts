import { validateHeaderName } from "node:http";
import type { PropertyFault } from "deneb/sdk";
import type { HttpSinkConfig, httpSinkSchema } from "./config.js";
import { filled, parseTemplate, templateFault } from "./template.js";

type Fault = PropertyFault<typeof httpSinkSchema>;

/** Faults that no format can judge. */
export function checkHttpSink(config: HttpSinkConfig): readonly Fault[] {
  const { tls_cert_file: cert, tls_key_file: key, bearer_token, username } = config;
  return [
    ...fault("url", urlFault(config.url)),
    ...fault("body", templateFault(config.body, "body")),
    ...fault("batch_body", templateFault(config.batch_body, "batch")),
    ...Object.entries(config.headers).flatMap(([name, text]) => fault("headers", headerFault(name, text))),
    ...fault("bearer_token", bearer_token !== "" && username !== "" ? "must not be given with username" : undefined),
    ...fault("bearer_token", /[^\x21-\x7e]/.test(bearer_token) ? "must be printable ASCII without blanks" : undefined),
    ...fault("tls_cert_file", cert === "" && key !== "" ? "must be given with tls_key_file" : undefined),
    ...fault("tls_key_file", cert !== "" && key === "" ? "must be given with tls_cert_file" : undefined),
  ];
}

function fault(property: Fault["property"], reason: string | undefined): readonly Fault[] {
  return reason === undefined ? [] : [{ property, reason }];
}

function urlFault(text: string): string | undefined {
  const wrong = templateFault(text, "url");
  if (wrong !== undefined) return wrong;
  const url = sampleUrl(text, "a");
  if (url === undefined || !/^https?:$/.test(url.protocol)) return "must be http://host/path or https://host/path";
  if (url.username !== "" || url.password !== "") return "must not hold a user or password; use username and password";
  return sampleUrl(text, "b")?.origin === url.origin ? undefined : "must name scheme, host and port without {{...}}";
}

function sampleUrl(text: string, value: string): URL | undefined {
  const sample = filled(parseTemplate(text), () => value);
  return URL.canParse(sample) ? new URL(sample) : undefined;
}

const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
]);

function headerFault(name: string, text: string): string | undefined {
  if (ownHeaders.has(name.toLowerCase())) return `"${name}" is written by the sink itself and must not be given`;
  try {
    validateHeaderName(name);
  } catch {
    return `"${name}" is no name of a header`;
  }
  if (/[^\t\x20-\x7e]/.test(text)) return `"${name}" must be printable ASCII`;
  return templateFault(text, "header");
}
