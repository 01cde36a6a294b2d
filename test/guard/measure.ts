import { guardCases } from "./guard-case.js";
import { guardRun } from "./guard-run.js";

/** Prints the counts of all cases, or of those whose name holds the first argument. */
const [text = ""] = process.argv.slice(2);
for (const one of guardCases.filter(({ name }) => name.includes(text))) {
  console.log(JSON.stringify({ [one.name]: await guardRun(one) }));
}
