import type { KafkaCluster } from "../client/cluster.js";
import { lackedIn } from "../client/rights.js";
import { PROTOCOL, TYPE } from "./consumer-group.js";
import type { Coordinator } from "./coordinator.js";

/** The first version of ListGroups that tells the type of a group; Kafka has it from 3.8 on. */
const LIST_GROUPS = { key: 16, version: 5 };
/** Types whose partitions brokers spread. */
const SPREAD_BY_BROKERS = ["consumer", "share", "streams"];
const WITHOUT_MEMBERS = ["empty", "dead"];
const NO_ERROR = 0;
/** Members that a result names. */
const MOST_NAMED = 5;

/** What a group is seen to be without joining it. */
export interface GroupLook {
  /** Whether the user may be a member. */
  readonly mayJoin: boolean;
  /** The members that are no sources of Deneb, in words; undefined for none. */
  readonly others: string | undefined;
}

/** Asks the coordinator of a group, and disturbs none of its members. */
export async function lookAtGroup(cluster: KafkaCluster, coordinator: Coordinator, group: string): Promise<GroupLook> {
  const doing = `looking at group "${group}"`;
  return await cluster.persistently(doing, async () => {
    const { groups } = await coordinator.ask(
      async (connection, library) => await library.describeGroupsV5.api.async(connection, [group], true),
    );
    const [found] = groups;
    const failure = coordinator.errorIn(found?.errorCode ?? NO_ERROR, doing);
    if (failure !== undefined) throw failure;
    const mayJoin = found === undefined || lackedIn(found.authorizedOperations, ["Read"]).length === 0;
    const others = foreignClients(found) ?? (mayJoin ? await spreadByBrokers(coordinator, group) : undefined);
    return { mayJoin, others };
  });
}

interface DescribedGroup {
  readonly protocolType: string;
  /** Empty while its members change. */
  readonly protocolData: string;
  readonly members: readonly { readonly clientId: string; readonly clientHost: string }[];
}

/** Of a group whose members spread the partitions. */
function foreignClients(group: DescribedGroup | undefined): string | undefined {
  if (group === undefined || group.members.length === 0) return undefined;
  const { protocolType, protocolData, members } = group;
  if (protocolType === TYPE && (protocolData === PROTOCOL || protocolData === "")) return undefined;
  const named = members.slice(0, MOST_NAMED).map(({ clientId, clientHost }) => `"${clientId}" at ${clientHost}`);
  const more = members.length > MOST_NAMED ? ` and ${members.length - MOST_NAMED} more` : "";
  return `${named.join(", ")}${more}`;
}

async function spreadByBrokers(coordinator: Coordinator, name: string): Promise<string | undefined> {
  const { apiKeys } = await coordinator.ask(
    async (connection, library) => await library.apiVersionsV3.api.async(connection, "deneb", "1"),
  );
  const { key, version } = LIST_GROUPS;
  if (!apiKeys.some(({ apiKey, maxVersion }) => apiKey === key && maxVersion >= version)) return undefined;
  const { groups } = await coordinator.ask(
    async (connection, library) => await library.listGroupsV5.api.async(connection, [], SPREAD_BY_BROKERS),
  );
  const group = groups.find(({ groupId }) => groupId === name);
  if (group === undefined || WITHOUT_MEMBERS.includes(group.groupState.toLowerCase())) return undefined;
  return `the group is one of type ${group.groupType.toLowerCase()}, in which brokers spread the partitions`;
}
