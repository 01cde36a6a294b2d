import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A NATS operator with one account that has JetStream, as nsc makes them. */
export interface Operator {
  /** Lines of the configuration of a server that believes this operator. */
  readonly lines: readonly string[];
  /** The text of a credentials file of a new user of the account; seconds since 1970 after which it is no longer valid. */
  readonly credentials: (expires?: number) => string;
}

const UNLIMITED = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const JETSTREAM = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

export function natsOperator(): Operator {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const accountOf = (pair: KeyPair, limits: object) => {
    const token = signed(operator, pair, {
      nats: { limits: { ...UNLIMITED, ...limits }, type: "account", version: 2 },
    });
    return `${pair.getPublicKey()}: ${token}`;
  };
  return {
    lines: [
      `operator: ${signed(operator, operator, { nats: { type: "operator", version: 2 } })}`,
      `system_account: ${system.getPublicKey()}`,
      "resolver: MEMORY",
      `resolver_preload: { ${accountOf(system, {})}, ${accountOf(account, JETSTREAM)} }`,
    ],
    credentials: (expires) => {
      const user = nkeys.createUser();
      const rights = { subs: -1, data: -1, payload: -1, pub: {}, sub: {}, type: "user", version: 2 };
      const claims = { nats: rights, ...(expires === undefined ? {} : { exp: expires }) };
      return fileOf(signed(account, user, claims), user);
    },
  };
}

/** A JSON web token as NATS signs them. */
function signed(issuer: KeyPair, subject: KeyPair, claims: object): string {
  const plain = {
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1000),
    name: "deneb",
    ...claims,
  };
  const jti = createHash("sha256").update(JSON.stringify(plain)).digest("hex");
  const content = [
    { typ: "JWT", alg: "ed25519-nkey" },
    { jti, ...plain },
  ]
    .map(encoded)
    .join(".");
  return `${content}.${Buffer.from(issuer.sign(Buffer.from(content))).toString("base64url")}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function fileOf(token: string, user: KeyPair): string {
  const seed = Buffer.from(user.getSeed()).toString();
  return [
    "-----BEGIN NATS USER JWT-----",
    token,
    "------END NATS USER JWT------",
    "",
    "-----BEGIN USER NKEY SEED-----",
    seed,
    "------END USER NKEY SEED------",
    "",
  ].join("\n");
}
