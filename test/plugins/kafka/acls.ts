import { openCluster } from "../../../plugins/kafka/client/open-cluster.js";
import type { ConnectionConfig } from "../../../plugins/kafka/client/properties.js";
import type { OwnKafka } from "../../support/own-kafka.js";
import { PASSWORDS } from "../../support/secured-kafka.js";
import { until } from "../../support/until.js";
import { never } from "./own-log.js";
import { connection } from "./topic-client.js";

/** How the users of a secured Kafka connect: admin with all rights, and bob with those that a test gives. */
export function usersBy(ca: string) {
  const admin = {
    security_protocol: "SASL_SSL",
    sasl_username: "admin",
    sasl_password: PASSWORDS.admin,
    ssl_ca_file: ca,
    request_timeout: 10_000,
  } as const satisfies Partial<ConnectionConfig>;
  return { admin, bob: { ...admin, sasl_username: "bob", sasl_password: PASSWORDS.bob } as const };
}

const ALLOW = 3;
const LITERAL = 3;
const resources = { topics: 2, groups: 3 } as const;
const operations = { Read: 3, Write: 4, Delete: 6, Describe: 8 } as const;

export interface Allowed {
  readonly topics?: readonly string[];
  readonly groups?: readonly string[];
  readonly operation: keyof typeof operations;
}

/** Allows bob to do something. */
export async function allow(
  kafka: OwnKafka,
  admin: Partial<ConnectionConfig>,
  { topics = [], groups = [], operation }: Allowed,
): Promise<void> {
  const cluster = await openCluster(
    { ...connection, ...admin, bootstrap_servers: [kafka.address] },
    "the test",
    never(),
  );
  const common = { resourcePatternType: LITERAL, principal: "User:bob", host: "*", permissionType: ALLOW } as const;
  const acl = (resourceType: 2 | 3) => (resourceName: string) =>
    ({ ...common, resourceType, resourceName, operation: operations[operation] }) as const;
  const acls = [...topics.map(acl(resources.topics)), ...groups.map(acl(resources.groups))];
  await cluster.askAny(async (line, library) => await library.createAclsV3.api.async(line, acls));
  // The controller has them then, and the broker a moment later.
  const known = async (one: (typeof acls)[number]) => {
    const { resources: found } = await cluster.askAny(
      async (line, library) => await library.describeAclsV3.api.async(line, one),
    );
    return found.length;
  };
  for (const one of acls)
    await until(
      () => known(one),
      (count) => count > 0,
    );
  cluster.close();
}
