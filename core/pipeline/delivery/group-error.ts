import { AgentError } from "../../sdk/index.js";
import type { GroupMember } from "./group-member.js";

/** What one sink said. */
export interface GroupFailure {
  readonly member: GroupMember;
  readonly error: unknown;
}

/** What each sink of a group said when none took the batch. */
export class GroupError extends AgentError {
  readonly failures: readonly GroupFailure[];

  constructor(message: string, failures: readonly GroupFailure[]) {
    super("GROUP_FAILED", message, { retryable: true });
    this.failures = failures;
  }
}
