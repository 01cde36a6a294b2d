const MEBIBYTE = 1024 * 1024;
/** With less, the system reads the program from the disk again and again: an agent neither starts nor ends. */
const LEAST = 72;
/** With less, it works and is slow for that reason. */
const ENOUGH = 112;

/** What a container that is too small for an agent means for it. */
interface SmallMemory {
  readonly level: "error" | "warning";
  readonly text: string;
}

/**
 * Undefined where the memory is no less than an agent takes.
 *
 * @param limit - of the container, in bytes: 0 or a number beyond all memory where there is none.
 */
export function smallMemory(limit: number = process.constrainedMemory()): SmallMemory | undefined {
  if (limit <= 0 || limit >= ENOUGH * MEBIBYTE) return undefined;
  const found = `the memory of this container or service is limited to ${Math.floor(limit / MEBIBYTE)} MiB`;
  const remedy = "raise the limit (memory of the container, MemoryMax= of the unit); docs/sizing.md says to what";
  if (limit < LEAST * MEBIBYTE)
    return {
      level: "error",
      text: `${found}; an agent needs at least ${LEAST} to start, ${ENOUGH} to work: ${remedy}`,
    };
  return { level: "warning", text: `${found}; below ${ENOUGH} an agent is slow: ${remedy}` };
}
