import { pause } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import type { Place } from "../client/directory.js";
import { KafkaError, kafkaErrorOf, meanings } from "../client/kafka-error.js";
import {
  assignedPlaces,
  assignmentBytes,
  type Member,
  spread,
  subscribedTopics,
  subscriptionBytes,
} from "./assignment.js";
import { type Coordinator, isMoving } from "./coordinator.js";

export const TYPE = "consumer";
/** Only sources of Deneb are members: what spreads the partitions is the same for all. */
export const PROTOCOL = "deneb";
/** How long the others wait for a member to end what it does and to join again. */
const REBALANCE_MILLIS = 30_000;
const HEARTBEATS_PER_SESSION = 4;
const LEAVE_MILLIS = 1000;
const FORGOTTEN = "UNKNOWN_MEMBER_ID";
const FOREIGN = "INCONSISTENT_GROUP_PROTOCOL";

/** What a source has of its group until its members change. */
export interface Membership {
  readonly generation: number;
  readonly memberId: string;
  readonly places: readonly Place[];
  /** How many partitions of each topic were spread; only the source that spreads them knows it. */
  readonly counted?: ReadonlyMap<string, number>;
}

interface ConsumerGroupParts {
  readonly cluster: KafkaCluster;
  readonly coordinator: Coordinator;
  readonly group: string;
  readonly sessionMillis: number;
  /** How many partitions topics have; those that are not there are left out. */
  partitionsOf(topics: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/**
 * A member of a group of Kafka, by the requests themselves. It spreads the work and nothing else: the origin of a record shows
 * what two members read for a moment.
 */
export class ConsumerGroup {
  readonly #parts: ConsumerGroupParts;
  #memberId = "";
  #waitsFor = "";

  constructor(parts: ConsumerGroupParts) {
    this.#parts = parts;
  }

  /** What joining waits for. */
  get waitsFor(): string {
    return this.#waitsFor;
  }

  /** Joins for these topics, and waits until the partitions are spread; for a coordinator that moves, as long as a call takes. Rejects with a KafkaError. */
  async join(topics: readonly string[], signal: AbortSignal): Promise<Membership> {
    const { cluster } = this.#parts;
    const end = performance.now() + cluster.callMillis;
    for (;;) {
      if (signal.aborted) throw new KafkaError("unavailable", "joining the group: aborted");
      try {
        const membership = await this.#joinOnce(topics, signal);
        if (membership !== undefined) return membership;
      } catch (error) {
        if (!isMoving(error) || performance.now() >= end || cluster.closing.aborted) throw error;
        await cluster.pause();
      }
    }
  }

  /** Undefined to ask again. */
  async #joinOnce(topics: readonly string[], signal: AbortSignal): Promise<Membership | undefined> {
    const joined = await this.#join(topics, signal);
    if (joined === undefined) return undefined;
    const { generation, members } = joined;
    const counted = members === undefined ? undefined : await this.#count(members);
    const places = await this.#sync(generation, assignmentsOf(members, counted), signal);
    if (places === undefined) return undefined;
    return { generation, memberId: this.#memberId, places, ...(counted === undefined ? {} : { counted }) };
  }

  /** Tells the group that the member is there; returns when the membership is over, or the signal aborts. */
  async keep({ generation, memberId }: Membership, signal: AbortSignal): Promise<void> {
    const { coordinator, group, sessionMillis } = this.#parts;
    let heard = performance.now();
    while (performance.now() - heard < sessionMillis) {
      await pause(sessionMillis / HEARTBEATS_PER_SESSION, signal);
      if (signal.aborted) return;
      try {
        const { errorCode } = await coordinator.ask(
          async (connection, library) => await library.heartbeatV4.api.async(connection, group, generation, memberId),
          { signal, millis: sessionMillis / 2 },
        );
        const error = coordinator.errorIn(errorCode, "reporting to the group");
        if (error === undefined) heard = performance.now();
        else if (isOver(error)) return this.#forgetIf(error);
      } catch (error) {
        const failure = kafkaErrorOf(error, "reporting to the group");
        if (failure.kind !== "unavailable" && failure.kind !== "full") return;
      }
    }
  }

  /** The others get the partitions at once. */
  async leave(): Promise<void> {
    const memberId = this.#memberId;
    if (memberId === "") return;
    this.#memberId = "";
    const { coordinator, group } = this.#parts;
    await coordinator.ask(
      async (connection, library) => await library.leaveGroupV4.api.async(connection, group, [{ memberId }]),
      { millis: LEAVE_MILLIS, signal: AbortSignal.timeout(LEAVE_MILLIS) },
    );
  }

  /** Undefined to ask again; members only for the one that spreads the partitions. */
  async #join(topics: readonly string[], signal: AbortSignal) {
    const { cluster, coordinator, group, sessionMillis } = this.#parts;
    this.#waitsFor = `its coordinator, which lets sources join once all that are in the group have ended what they do, at the latest after ${REBALANCE_MILLIS / 1000} s`;
    const protocols = [{ name: PROTOCOL, metadata: subscriptionBytes(topics) }];
    const answer = await coordinator.ask(
      async (connection, library) =>
        await library.joinGroupV7.api.async(
          connection,
          group,
          sessionMillis,
          REBALANCE_MILLIS,
          this.#memberId,
          null,
          TYPE,
          protocols,
        ),
      { purpose: "join", signal, millis: REBALANCE_MILLIS + cluster.attemptMillis },
    );
    const error = coordinator.errorIn(answer.errorCode, `joining the group with session_timeout = ${sessionMillis}`);
    if (error?.id === "MEMBER_ID_REQUIRED") {
      this.#memberId = answer.memberId ?? "";
      return undefined;
    }
    if (error !== undefined) return this.#againOrThrow(error);
    this.#memberId = answer.memberId ?? "";
    // A group without a leader is one in which brokers spread the partitions: a consumer of `group.protocol=consumer` is a member, and gets some.
    if ((answer.leader ?? "") === "") throw foreignMembers(group);
    const isLeader = answer.leader === this.#memberId;
    const members = answer.members.map(({ memberId: id, metadata }) => ({ id, topics: subscribedTopics(metadata) }));
    return { generation: answer.generationId, members: isLeader ? members : undefined };
  }

  async #count(members: readonly Member[]): Promise<ReadonlyMap<string, number>> {
    return await this.#parts.partitionsOf([...new Set(members.flatMap((member) => member.topics))]);
  }

  async #sync(
    generation: number,
    assignments: { memberId: string; assignment: Buffer }[],
    signal: AbortSignal,
  ): Promise<readonly Place[] | undefined> {
    const { cluster, coordinator, group } = this.#parts;
    const memberId = this.#memberId;
    this.#waitsFor = "the source of the group that spreads the partitions";
    const answer = await coordinator.ask(
      async (connection, library) =>
        await library.syncGroupV5.api.async(connection, group, generation, memberId, null, TYPE, PROTOCOL, assignments),
      { purpose: "join", signal, millis: REBALANCE_MILLIS + cluster.attemptMillis },
    );
    const error = coordinator.errorIn(answer.errorCode, "joining the group");
    if (error !== undefined) return this.#againOrThrow(error);
    this.#waitsFor = "the leaders of its partitions to say what they hold";
    return assignedPlaces(answer.assignment);
  }

  #againOrThrow(error: KafkaError): undefined {
    if (!isOver(error)) throw error;
    this.#forgetIf(error);
  }

  #forgetIf({ id }: KafkaError): void {
    if (id === FORGOTTEN) this.#memberId = "";
  }
}

function assignmentsOf(members: readonly Member[] = [], counted: ReadonlyMap<string, number> = new Map()) {
  const places = spread(members, counted);
  return [...places].map(([memberId, own]) => ({ memberId, assignment: assignmentBytes(own) }));
}

const ends: readonly string[] = [FORGOTTEN, "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"];

/** What brokers say of two older protocols is found here of the newer one of Kafka 4: they take in the members of both. */
function foreignMembers(group: string): KafkaError {
  const reason = `joining the group (group "${group}"): ${FOREIGN}, ${meanings[FOREIGN]}`;
  return new KafkaError("settings", reason, { id: FOREIGN });
}

/** Whether other programs are members of the group. */
export function isForeign(error: unknown): boolean {
  return error instanceof KafkaError && error.id === FOREIGN;
}

/** Whether the member has to join again. */
export function isOver(error: unknown): boolean {
  return error instanceof KafkaError && ends.includes(error.id);
}
