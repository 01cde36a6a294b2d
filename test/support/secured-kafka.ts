import type { KafkaPrograms } from "./kafka-jars.js";
import type { KafkaSettings } from "./kafka-properties.js";
import { type OwnKafka, startOwnKafka } from "./own-kafka.js";

export const PASSWORDS = { admin: "admin-secret", bob: "bob-secret" } as const;

/** So long the session of a user is who comes by SCRAM-SHA-512; then brokers end the connection. */
export const SESSION_MILLIS = 1500;

const plain = "org.apache.kafka.common.security.plain.PlainLoginModule required";
const scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;";

/** A Kafka with TLS of this certificate, the users admin, who may everything, and bob, who may nothing, and all their mechanisms. */
export async function startSecuredKafka(
  programs: KafkaPrograms,
  { key, cert }: { readonly key: string; readonly cert: string },
  ways: NonNullable<KafkaSettings["ways"]> = [],
): Promise<OwnKafka> {
  const { admin, bob } = PASSWORDS;
  return await startOwnKafka(programs, {
    protocol: "SASL_SSL",
    ways,
    users: PASSWORDS,
    files: { "server.pem": `${key}${cert}`, "ca.pem": cert },
    lines: [
      "ssl.keystore.type=PEM",
      "ssl.keystore.location=FOLDER/server.pem",
      "ssl.truststore.type=PEM",
      "ssl.truststore.location=FOLDER/ca.pem",
      "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
      "sasl.mechanism.inter.broker.protocol=PLAIN",
      `listener.name.client.plain.sasl.jaas.config=${plain} username="admin" password="${admin}" user_admin="${admin}" user_bob="${bob}";`,
      `listener.name.client.scram-sha-256.sasl.jaas.config=${scram}`,
      `listener.name.client.scram-sha-512.sasl.jaas.config=${scram}`,
      `listener.name.client.scram-sha-512.connections.max.reauth.ms=${SESSION_MILLIS}`,
      "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "super.users=User:admin;User:ANONYMOUS",
    ],
  });
}
