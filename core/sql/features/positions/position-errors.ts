import { AgentError } from "../../../sdk/index.js";

interface Conflict {
  readonly sink: string;
  /** The channel as in the row. */
  readonly channel: string;
  /** The qualified name of the table. */
  readonly table: string;
  /** The run of the agent that wrote the row; undefined for an earlier version of the agent. */
  readonly owner: string | undefined;
  readonly moved: string | undefined;
  /** The statement that removes the row. */
  readonly deletion: string;
}

/** The error if another agent has moved a position of this sink: which agent, and what to do. */
export function positionConflict({ sink, channel, table, owner, moved, deletion }: Conflict): AgentError {
  const last = moved === undefined ? "" : `, last at ${moved}`;
  const message =
    `storing by sink "${sink}": the position of channel "${channel}" in table ${table} was moved by ${describedRun(owner)}${last}; ` +
    "nothing of the batch is stored, its events stay in the channel. Two agents run with one channel folder or with copies " +
    `of it: stop the other one, then run ${deletion}; or give this agent's channel another id by an empty file new-id in its ` +
    "checkpoint folder and start it again. If the database was restored to an earlier state, run the DELETE only";
  return new AgentError("POSITION_CONFLICT", message, { retryable: true });
}

/** The error if the row changes faster than it can be read. */
export function positionUnsettled(sink: string): AgentError {
  const message =
    `storing by sink "${sink}": a row that the sink keeps with its data changed twice while it was written, or is there more ` +
    "than once; nothing of the batch is stored. See which other agent writes for a sink of this name, or which trigger, rule " +
    "or row security the table of positions has";
  return new AgentError("POSITION_CONFLICT", message, { retryable: true });
}

/** An agent by its run, for people. */
export function describedRun(owner: string | undefined): string {
  if (owner === undefined) return "an earlier version of Deneb";
  const [host, pid, since, random, ...more] = owner.split(",");
  if (random === undefined || more.length > 0) return `the agent "${owner.slice(0, 200)}"`;
  return `the agent on host "${host}" with pid ${pid}, started ${since} (run ${random})`;
}

/** The error if other agents move a shared position again and again while this one writes. */
export function positionMoving(sink: string, attempts: number): AgentError {
  const message =
    `storing by sink "${sink}": other agents moved the stored position ${attempts} times while this one wrote; nothing of the ` +
    "batch is stored";
  return new AgentError("POSITION_MOVING", message, { retryable: true });
}

/** The error for a batch of a shared position that does not fit into one transaction; the halves of it do. */
export function tooManyTables(tables: number, most: number): AgentError {
  const message = `storing a batch for ${tables} tables: the limit is ${most} where several agents move the position`;
  return new AgentError("TOO_MANY_TABLES", message, { retryable: false });
}
