import { writeFileSync } from "node:fs";
import { builtinModules, syncBuiltinESMExports } from "node:module";
import path from "node:path";
import process from "node:process";
import v8 from "node:v8";
import vm from "node:vm";

/** What a program loaded at its start. */
export interface Start {
  /** Of its bundle, and whether V8 took code that was kept. */
  readonly scripts: readonly { readonly name: string; readonly fromKept: boolean }[];
  /** Modules of Node that were loaded after a flag of V8 was set. */
  readonly late: readonly string[];
}

/** Loaded into an agent before its program: when the process ends, it writes a Start to the file DENEB_START_FILE. */
const output = process.env["DENEB_START_FILE"] ?? "";
const scripts: Start["scripts"][number][] = [];
let early: ReadonlySet<string> | undefined;

const { Script } = vm;
vm.Script = class extends Script {
  constructor(code: string, options: vm.ScriptOptions) {
    super(code, options);
    scripts.push({ name: path.basename(options.filename ?? ""), fromKept: this.cachedDataRejected === false });
  }
};
const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flags) => {
  early ??= loaded();
  setFlagsFromString(flags);
};
syncBuiltinESMExports();

process.on("exit", () => {
  const late = [...loaded()].filter((name) => early?.has(name) !== true);
  writeFileSync(output, JSON.stringify({ scripts, late } satisfies Start));
});

function loaded(): ReadonlySet<string> {
  const list: unknown = Reflect.get(process, "moduleLoadList");
  const names = (Array.isArray(list) ? list : []).map((entry) => String(entry).replace("NativeModule ", ""));
  return new Set(names.filter((name) => builtinModules.includes(name)));
}
