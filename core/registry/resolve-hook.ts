import * as nodeModule from "node:module";

/** The members used of what Node passes to a resolve hook. */
interface ResolveContext {
  readonly parentURL?: string | undefined;
}

type NextResolve<R> = (specifier: string, context: ResolveContext) => R;

/**
 * The resolve hook behind plugins: `deneb/...` means this agent's own package, and `deneb-package:` a package as seen
 * from a folder. Node runs it in the main thread or, before 22.15, in one of its own; so it uses no state.
 */
export function resolve<R>(specifier: string, context: ResolveContext, nextResolve: NextResolve<R>): R {
  if (specifier.startsWith("deneb/")) return nextResolve(specifier, { ...context, parentURL: import.meta.url });
  if (!specifier.startsWith(PACKAGE)) return nextResolve(specifier, context);
  const { pathname, searchParams } = new URL(specifier);
  const parentURL = searchParams.get("from") ?? undefined;
  return nextResolve(decodeURIComponent(pathname), { ...context, parentURL });
}

const PACKAGE = "deneb-package:";

/** The specifier of a package, resolved from a module at `from`. */
export function packageSpecifier(name: string, from: URL): string {
  return `${PACKAGE}${encodeURIComponent(name)}?from=${encodeURIComponent(from.href)}`;
}

let offered = false;

/**
 * Installs the hook: every module of this process that imports `deneb/...` gets the copy of this agent, wherever the
 * module is and whether or not deneb is installed there. May be called again.
 */
export function offerContract(): void {
  if (offered) return;
  offered = true;
  // Node 20 has only `register`, which newer versions deprecate.
  const registerHooks: unknown = Reflect.get(nodeModule, "registerHooks");
  if (typeof registerHooks === "function") Reflect.apply(registerHooks, nodeModule, [{ resolve }]);
  else nodeModule.register(import.meta.url);
}
