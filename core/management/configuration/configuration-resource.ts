import { type Request, type RequestHandler, type Response, Router } from "express";
import { MASK } from "../../configuration/configuration-fault.js";
import { withoutProperty, withProperty } from "../../configuration/file/edited-properties.js";
import { shownProperties } from "../../configuration/shown-settings.js";
import type { EditedText } from "../../files/edited-text.js";
import { codeOf, type Logger, reasonOf } from "../../sdk/index.js";
import type { PluginCatalogue } from "../../tokens.js";
import { badRequest, fail, HttpError, succeed } from "../answers.js";
import { answer, failure, operation, type Paths, queryParameter, type Resource, schemaRef, text } from "../openapi.js";
import { parameterError, parameterOf } from "../requests.js";
import { adminTokenOnly } from "../security/access.js";
import type { AgentFiles } from "./agent-files.js";

export interface ConfigurationAccess {
  readonly files: AgentFiles;
  /** Says which properties are secrets. */
  readonly catalogue: PluginCatalogue;
}

/** `/v1/admin/configuration/agent<path>`: reads and changes properties of the file of an agent. Secrets are masked. */
export function configurationResource({ files, catalogue }: ConfigurationAccess, log: Logger): Resource {
  const router = Router({ caseSensitive: true });
  const shown = (text: string | undefined) => shownProperties(text ?? "", catalogue);
  const answering = (operate: (call: Call) => Promise<void>): RequestHandler => {
    return async (request, response) => {
      const at = request.path.replace(/^(?:\/v1)?\/admin\/configuration\/agent/, "").replace(/\/$/, "");
      const file = () => files.at(at);
      await operate({ request, response, file, shown, log });
    };
  };
  for (const path of Object.keys(paths).map((documented) => documented.replace("{path}", "*path"))) {
    router.get(path, adminTokenOnly, answering(read));
    router.post(path, adminTokenOnly, answering(add));
    router.put(path, adminTokenOnly, answering(put));
    router.delete(path, adminTokenOnly, answering(remove));
  }
  return { router, paths, schemas: {} };
}

interface Call {
  readonly request: Request;
  readonly response: Response;
  /** The file of the path. Throws when there is none in the folder. */
  readonly file: () => Promise<EditedText>;
  /** Its properties as they are answered. */
  readonly shown: (text: string | undefined) => ReadonlyMap<string, string>;
  readonly log: Logger;
}

async function read({ request, response, file, shown }: Call): Promise<void> {
  const name = parameterOf(request, "param");
  if (name === "") throw parameterError("empty", "param_name");
  const properties = shown(await (await file()).read());
  if (name === undefined) return succeed(response, { result: all(properties) });
  const value = properties.get(name);
  if (value === undefined) throw unknownProperty(name);
  succeed(response, { result: { [name]: value } });
}

async function add(call: Call): Promise<void> {
  const { name, value } = givenProperty(call.request);
  const { text, isChanged } = await edited(call, (old) =>
    call.shown(old).has(name) ? undefined : withProperty(old, name, value),
  );
  const result = all(call.shown(text));
  if (isChanged) succeed(call.response, { result });
  else fail(call.response, 400, { error: `Param '${name}' exists in the agent`, result });
}

async function put(call: Call): Promise<void> {
  const { name, value } = givenProperty(call.request);
  const { text } = await edited(call, (old) => withProperty(old, name, value));
  succeed(call.response, { result: all(call.shown(text)) });
}

async function remove(call: Call): Promise<void> {
  const name = givenName(call.request);
  const { text, isChanged } = await edited(call, (old) =>
    call.shown(old).has(name) ? withoutProperty(old, name) : undefined,
  );
  if (!isChanged) throw unknownProperty(name);
  succeed(call.response, { result: all(call.shown(text)) });
}

interface Edited {
  readonly text: string;
  /** False when there was no change to make. */
  readonly isChanged: boolean;
}

/** Changes the file; nothing is written when the change is undefined. */
async function edited({ request, file, log }: Call, change: (text: string) => string | undefined): Promise<Edited> {
  const text = await file();
  const editing = text.edit<Edited>((old = "") => {
    const next = changed(old, change);
    return next === undefined
      ? { result: { text: old, isChanged: false } }
      : { text: next, result: { text: next, isChanged: true } };
  });
  const result = await editing.catch((cause) => {
    if (codeOf(cause) !== "FILE_NOT_WRITTEN") throw cause;
    throw new HttpError(
      409,
      { error: "The file cannot be written: the agent may not change it or its folder" },
      { cause },
    );
  });
  if (result.isChanged)
    log.info({ method: request.method, property: givenName(request) }, "configuration file changed");
  return result;
}

function changed(old: string, change: (text: string) => string | undefined): string | undefined {
  if (old.includes("\uFFFD"))
    throw new HttpError(409, { error: "The file is not UTF-8; save it as UTF-8 to change it" });
  try {
    return change(old);
  } catch (cause) {
    throw new HttpError(409, { error: `The file is not a valid properties file (${reasonOf(cause)})` }, { cause });
  }
}

function all(properties: ReadonlyMap<string, string>): object {
  return { agent: Object.fromEntries(properties) };
}

/** Control characters would end a line; U+FFFD in a file says that it was not UTF-8, and nobody could change it again. */
const NOT_WRITTEN = /[\p{Cc}\ufffd]/u;

function givenProperty(request: Request): { readonly name: string; readonly value: string } {
  const name = givenName(request);
  const value = parameterOf(request, "value");
  if (value === undefined) throw parameterError("missing", "value");
  if (value === "") throw parameterError("empty", "value");
  if (NOT_WRITTEN.test(value)) throw parameterError("wrong", "value");
  if (value === MASK) {
    throw badRequest(`${MASK} stands for a secret and is not written. Give a reference such as \${env:NAME}`);
  }
  return { name, value };
}

function givenName(request: Request): string {
  const name = parameterOf(request, "param");
  if (name === undefined) throw parameterError("missing", "param");
  if (name === "") throw parameterError("empty", "param");
  if (/\s/u.test(name) || NOT_WRITTEN.test(name)) throw parameterError("wrong", "param");
  return name;
}

function unknownProperty(name: string): HttpError {
  return new HttpError(400, { result: `Param '${name}' not found in the agent` });
}

const param = queryParameter("param", "The full key of a property.", text, true);
const value = queryParameter("value", "Its value; *** is refused.", text, true);
const shown = answer("The properties of the file, secrets masked.", schemaRef("Result"));
const responses = { "200": shown, "400": failure("The call is invalid, or no such file or property exists.") };
const changing = { ...responses, "409": failure("The file is not a valid properties file, or cannot be written.") };

const operations = {
  get: operation({
    summary: "Shows one property of the file of an agent, or all.",
    parameters: [queryParameter("param", "Without it all properties are shown.", text)],
    responses,
  }),
  post: operation({ summary: "Adds a property.", parameters: [param, value], responses: changing }),
  put: operation({ summary: "Changes or adds a property.", parameters: [param, value], responses: changing }),
  delete: operation({ summary: "Removes a property.", parameters: [param], responses: changing }),
};

/** The operations on files of agents; their path is the absolute path of the file. */
const paths: Paths = {
  "/v1/admin/configuration/agent/{path}": operations,
  "/admin/configuration/agent/{path}": operations,
};
