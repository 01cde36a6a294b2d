import { RE2JS, RE2JSException } from "re2js";
import { AgentError } from "../sdk/index.js";

const LONGEST_PATTERN = 1000;
const LARGEST_PROGRAM = 10_000;

/** A regular expression of RE2, ready to use; throws code `INVALID_PATTERN`. */
export function compiled(text: string): RE2JS {
  if (text.length > LONGEST_PATTERN) throw invalid(text, `it is longer than ${LONGEST_PATTERN} characters`);
  const regex = parsed(text);
  if (regex.programSize() > LARGEST_PROGRAM) throw invalid(text, "its repetitions make it too large");
  return regex;
}

function parsed(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (cause) {
    if (cause instanceof RE2JSException) throw invalid(text, cause.message, cause);
    throw cause;
  }
}

const LONGEST_SHOWN = 60;

function invalid(text: string, reason: string, cause?: unknown): AgentError {
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
  return new AgentError("INVALID_PATTERN", `compiling the regular expression "${shown}": ${reason}`, { cause });
}
