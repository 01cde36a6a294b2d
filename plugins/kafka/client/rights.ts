import type { KafkaCluster } from "./cluster.js";
import { protocolError } from "./kafka-error.js";

/** The numbers of operations in the protocol. */
const operations = { Read: 3, Write: 4, Delete: 6 } as const;

export type Operation = keyof typeof operations;

const NO_ERROR = 0;
/** Brokers without ACLs tell all operations; those that were not asked for them tell this. */
const NOT_TOLD = -2_147_483_648;

/** Which of these operations are not in a set, as brokers tell what a user may do. */
export function lackedIn(allowed: number, wanted: readonly Operation[]): readonly Operation[] {
  if (allowed === NOT_TOLD) return [];
  return wanted.filter((operation) => (allowed & (1 << operations[operation])) === 0);
}

/** What the user may not do, by the name of the topic: `Write on topic "ngsi"`. Of one that is not there nothing is known. */
export async function lackedRights(
  cluster: KafkaCluster,
  names: readonly string[],
  wanted: readonly Operation[],
): Promise<ReadonlyMap<string, string>> {
  const { topics } = await cluster.askAny(
    async (connection, library) => await library.metadataV12.api.async(connection, [...names], false, true),
  );
  const rights = new Map<string, string>();
  for (const { name, errorCode, topicAuthorizedOperations: allowed } of topics) {
    const isHidden = protocolError(cluster.library, errorCode, "").kind === "denied";
    const lacked = isHidden ? ["Describe", ...wanted] : errorCode === NO_ERROR ? lackedIn(allowed, wanted) : [];
    if (lacked.length > 0) rights.set(name ?? "", `${lacked.join(", ")} on topic "${name}"`);
  }
  return rights;
}
