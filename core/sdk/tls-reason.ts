/** What a plugin calls the parts of a TLS connection, for {@link tlsReason}. @beta */
export interface TlsWords {
  /** Such as `the broker`. */
  readonly server: string;
  /** The property with the authorities to trust. */
  readonly ca: string;
  /** The properties with certificate and key of this client. */
  readonly client: string;
  /** What to do where the server does not speak TLS on this port. */
  readonly plain: string;
  /** What to do where the certificate is for another host. */
  readonly name: string;
}

const untrusted: readonly string[] = [
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
];

interface TlsFailure {
  readonly code: string;
  readonly message: string;
}

/** What an error of a TLS connection means, with the remedy; undefined for an error that is not of TLS. @beta */
export function tlsReason({ code, message }: TlsFailure, words: TlsWords): string | undefined {
  const { server, ca, client, plain, name } = words;
  const certificate = `the certificate of ${server}`;
  if (untrusted.includes(code))
    return `${certificate} is not signed by a trusted authority (${code}); give that authority in ${ca}`;
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return `${certificate} is not valid now (${code}); have it renewed`;
  if (code === "CERT_SIGNATURE_FAILURE")
    return `${certificate} does not fit those that are trusted (${code}); see ${ca}`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `${certificate} is for another host (${code}); ${name}`;
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || (code === "EPROTO" && /wrong version number/.test(message)))
    return `${server} does not speak TLS on this port; ${plain}`;
  if (/^ERR_SSL_.*_ALERT_.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code))
    return `${server} refuses the certificate of this client, or wants one (${code}); see ${client}`;
  if (/^(?:ERR_SSL_|ERR_OSSL_|EPROTO$)/.test(code)) return `TLS failed (${code}); see ${ca} and ${client}`;
  return undefined;
}
