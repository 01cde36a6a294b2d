import type { X509Certificate } from "node:crypto";
import type { Examiner, ProbeResult } from "deneb/sdk";
import type { SslMode } from "./server.js";

interface Negotiated {
  /** What the configuration asks for. */
  readonly mode: SslMode;
  readonly host: string;
  /** Undefined without TLS. */
  readonly protocol: string | undefined;
  readonly certificate: X509Certificate | undefined;
  readonly examiner: Examiner;
}

const LOCAL = /^(?:localhost|127\.[\d.]+|::1|\/.*)$/;

/** What was negotiated, against what is asked for. Who asks for more is not connected at all. */
export function tlsResult({ mode, host, protocol, certificate, examiner }: Negotiated): ProbeResult {
  if (protocol === undefined) {
    const reason = `not encrypted, as sslmode ${mode} allows`;
    if (mode === "disable" || LOCAL.test(host)) return { outcome: "ok", reason };
    return {
      outcome: "warning",
      reason,
      remedy: "enable TLS on the server and ask for it with sslmode=require or verify-full",
    };
  }
  const verified = mode === "verify-ca" || mode === "verify-full";
  const reason = `${protocol}, ${verified ? `certificate verified (sslmode ${mode})` : `certificate not verified (sslmode ${mode})`}`;
  if (certificate === undefined) return { outcome: "ok", reason };
  const validity = examiner.certificate(certificate.raw);
  return {
    ...validity,
    // What nobody verifies keeps nobody from connecting.
    outcome: validity.outcome === "failed" && !verified ? "warning" : validity.outcome,
    reason: validity.reason === undefined ? reason : `${reason}; ${validity.reason}`,
  };
}
