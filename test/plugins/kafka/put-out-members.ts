import type { KafkaCluster } from "../../../plugins/kafka/client/cluster.js";
import { Coordinator } from "../../../plugins/kafka/source/coordinator.js";
import { until } from "../../support/until.js";

/** The coordinator forgets the only member of the group, as after it was away for longer than its session. */
export async function putOutMembers(cluster: KafkaCluster, group: string): Promise<void> {
  const coordinator = new Coordinator(cluster, group);
  const members = await until(
    async () => {
      const { groups } = await coordinator.ask(
        async (line, library) => await library.describeGroupsV5.api.async(line, [group], false),
      );
      return groups.flatMap((one) => one.members.map(({ memberId }) => ({ memberId })));
    },
    ({ length }) => length === 1,
  );
  await coordinator.ask(async (line, library) => await library.leaveGroupV4.api.async(line, group, members));
}
