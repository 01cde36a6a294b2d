import type { LetterChoice } from "../../pipeline/dead-letters/choice.js";
import type { DeadLetterReason, OpenLetter } from "../../pipeline/dead-letters/dead-letters.js";
import type { Explanation } from "../../sdk/index.js";
import { capacityOf } from "../channel-room.js";
import type { ComponentCondition, Readiness } from "../state/readiness.js";
import type { DeadLetterReplay } from "./dead-letter-replay.js";

/** What a replay of a letter is expected to do; `dangerous`: its event ended the process before. */
type Outlook = "may-succeed" | "fails-again" | "dangerous";

/** Letters of one sink that failed for the same reason with the same code. */
interface PlannedGroup {
  readonly reason: DeadLetterReason;
  readonly code?: string;
  readonly letters: number;
  readonly outlook: Outlook;
  readonly why: string;
}

interface PlannedSink {
  readonly sink: string;
  readonly letters: number;
  /** Whether the agent has it. */
  readonly exists: boolean;
  readonly health?: ComponentCondition["state"];
  readonly findings?: readonly string[];
  /** Events that its channel takes now; absent when it does not say. */
  readonly room?: number;
  readonly groups: readonly PlannedGroup[];
}

interface PlannedExample {
  readonly id: string;
  readonly sink: string;
  readonly outlook: Outlook;
  readonly explanation?: Explanation;
  readonly failure?: string;
}

export interface ReplayPlan {
  readonly sinks: readonly PlannedSink[];
  /** What the sinks would do with the first letters of each group. */
  readonly examples: readonly PlannedExample[];
  /** False when there are more letters than a plan covers. */
  readonly complete: boolean;
}

interface ReplayPlanParts {
  readonly replay: Pick<DeadLetterReplay, "chosen" | "sinkOf" | "explained">;
  readonly readiness: Pick<Readiness, "conditions">;
}

const MOST_LETTERS = 100_000;
/** Groups of one sink; further codes are counted together, without a code. */
const MOST_GROUPS = 50;

interface Group {
  readonly reason: DeadLetterReason;
  readonly code: string | undefined;
  letters: number;
}

/** What a replay of the chosen letters would do, as far as can be said. Nothing is changed. */
export async function replayPlan(choice: LetterChoice, explain: number, parts: ReplayPlanParts): Promise<ReplayPlan> {
  const sinks = new Map<string, Map<string, Group>>();
  const samples: OpenLetter[] = [];
  let seen = 0;
  let complete = true;
  for await (const letter of parts.replay.chosen(choice)) {
    if (seen === MOST_LETTERS) {
      complete = false;
      break;
    }
    seen += 1;
    const groups = sinks.get(letter.sink) ?? new Map<string, Group>();
    sinks.set(letter.sink, groups);
    const isFirst = noted(groups, letter);
    if (isFirst && samples.length < explain) samples.push(letter);
  }
  const examples: PlannedExample[] = [];
  for (const letter of samples) examples.push(await exampleOf(letter, parts));
  return { sinks: [...sinks].map(([sink, groups]) => planned(sink, [...groups.values()], parts)), examples, complete };
}

/** True for the first letter of its group. */
function noted(groups: Map<string, Group>, { reason, code }: OpenLetter): boolean {
  const full = groups.size >= MOST_GROUPS && !groups.has(`${reason} ${code}`);
  const key = full ? reason : `${reason} ${code}`;
  const group = groups.get(key) ?? { reason, code: full ? undefined : code, letters: 0 };
  groups.set(key, group);
  group.letters += 1;
  return group.letters === 1;
}

function planned(sink: string, groups: readonly Group[], { replay, readiness }: ReplayPlanParts): PlannedSink {
  const running = replay.sinkOf(sink);
  const letters = groups.reduce((sum, group) => sum + group.letters, 0);
  const common = { sink, letters };
  if (running === undefined) {
    const why = "the agent has no sink of that name";
    return { ...common, exists: false, groups: groups.map((group) => shown(group, { outlook: "fails-again", why })) };
  }
  const condition = readiness.conditions().find(({ kind, name }) => kind === "sink" && name === running.name);
  const capacity = capacityOf(running.node) ?? running.channel.transactionCapacity;
  const { size } = running.channel;
  return {
    ...common,
    exists: true,
    ...(condition === undefined
      ? {}
      : { health: condition.state, findings: condition.findings.map(({ reason }) => reason) }),
    ...(size === undefined ? {} : { room: Math.max(0, capacity - size) }),
    groups: groups.map((group) => shown(group, expected(group.reason, condition))),
  };
}

interface Expected {
  readonly outlook: Outlook;
  readonly why: string;
}

function shown({ reason, code, letters }: Group, expected: Expected): PlannedGroup {
  return { reason, ...(code === undefined ? {} : { code }), letters, ...expected };
}

function expected(reason: DeadLetterReason, condition: ComponentCondition | undefined): Expected {
  if (reason === "crashed-the-agent") {
    return { outlook: "dangerous", why: "an event of these ended the process before; replay one at a time" };
  }
  const down = condition?.findings.find(({ state }) => state === "down");
  if (down !== undefined) return { outlook: "fails-again", why: `the sink is down: ${down.reason}` };
  if (reason === "permanent") {
    const why =
      "the store refused these events; it refuses them again unless its tables, their rights or the configuration changed";
    return { outlook: "fails-again", why };
  }
  return reason === "stopped"
    ? { outlook: "may-succeed", why: "the agent stopped before these events were stored" }
    : {
        outlook: "may-succeed",
        why: "the store was unavailable until the retry limit was reached; it is not down now",
      };
}

async function exampleOf(letter: OpenLetter, { replay, readiness }: ReplayPlanParts): Promise<PlannedExample> {
  const { id, sink, reason } = letter;
  const running = replay.sinkOf(sink);
  if (running === undefined) return { id, sink, outlook: "fails-again", failure: "the agent has no sink of that name" };
  const condition = readiness.conditions().find(({ kind, name }) => kind === "sink" && name === running.name);
  const { explanation, failure } = await replay.explained(letter);
  const { outlook } = expected(reason, condition);
  return {
    id,
    sink,
    outlook: failure === undefined || outlook === "dangerous" ? outlook : "fails-again",
    ...(explanation === undefined ? {} : { explanation }),
    ...(failure === undefined ? {} : { failure }),
  };
}
