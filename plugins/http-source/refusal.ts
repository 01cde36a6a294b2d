import { codeOf, type Sender } from "deneb/sdk";

/** What the sender is told when its request was not accepted. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reason: string;
}

/** The refusal for whatever was thrown. Only what was made for the sender is shown to it, the rest belongs in the log. */
export function refusalOf(error: unknown, retryAfterSeconds: number): Refusal {
  if (!(error instanceof Error)) return unexpected;
  const code = codeOf(error);
  if (code === "DELIVERY_REJECTED" && "status" in error && typeof error.status === "number") {
    return { status: error.status, headers: "headers" in error ? texts(error.headers) : {}, reason: error.message };
  }
  if (code === "CHANNEL_FULL" || code === "TRANSACTION_TOO_LARGE") {
    return { status: 503, headers: { "Retry-After": String(retryAfterSeconds) }, reason: error.message };
  }
  if (code === "NOTIFICATION_TOO_LARGE") return { status: 413, headers: {}, reason: error.message };
  return unexpected;
}

/** Whose delivery it was, when the one who refused it knew. */
export function senderOf(error: unknown): Sender | undefined {
  if (typeof error !== "object" || error === null || !("sender" in error)) return undefined;
  const { sender } = error;
  if (typeof sender !== "object" || sender === null || !("service" in sender) || !("servicePath" in sender)) {
    return undefined;
  }
  const { service, servicePath } = sender;
  return typeof service === "string" && typeof servicePath === "string" ? { service, servicePath } : undefined;
}

const unexpected: Refusal = { status: 500, headers: {}, reason: "The request could not be processed" };

function texts(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
