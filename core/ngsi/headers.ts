/** Names of the headers of an NGSI event. All values are text. */
export const eventHeaders = {
  /** Tenant of the notification. */
  service: "fiware-service",
  /** Service path; `/` where the API has none (NGSI-LD). */
  servicePath: "fiware-servicepath",
  /** Id that joins the log lines of one update across systems. */
  correlator: "fiware-correlator",
  /** Id of the delivery at this agent. */
  transactionId: "transaction-id",
  /** Reception time, milliseconds since 1970 UTC. */
  timestamp: "timestamp",
  /** Address of the JSON-LD context, when the notification named one in a Link header. */
  link: "link",
} as const;
