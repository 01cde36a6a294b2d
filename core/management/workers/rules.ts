import type { JsonObject } from "../../agent/live/merge-patch.js";
import { succeed } from "../answers.js";
import type { LiveStream } from "../live/live-stream.js";
import { parameterOf } from "../requests.js";
import { adminOnly, adminTokenOnly } from "../security/access.js";
import { answerAccess } from "./access.js";
import {
  type Answering,
  allChange,
  allChangeJoined,
  allReload,
  firstChanges,
  type Joining,
  joined,
} from "./answering.js";
import { showArrivals, startArrivals } from "./arrivals.js";
import type { Call, Told } from "./call.js";
import { changeLetters } from "./dead-letters/letter-changes.js";
import { listLetters } from "./dead-letters/letter-list.js";
import { searchLetters } from "./dead-letters/letter-search.js";
import { changeLetter, showLetter } from "./dead-letters/one-letter.js";
import type { GatewayMetrics } from "./gateway-metrics.js";
import { lastReload } from "./joined/component-joins.js";
import { first, listBy, members } from "./joined/joins.js";
import { mergedStatistics } from "./joined/statistics.js";
import { transactions } from "./joined/transactions.js";
import { mergedVerification } from "./joined/verification.js";
import { listIn } from "./json.js";
import { answerStream } from "./live/answer-stream.js";
import type { LiveWorkers } from "./live/live-workers.js";
import type { PassThrough } from "./pass-through.js";
import { Probes } from "./probes.js";
import type { Rule } from "./rule-router.js";
import { absent, nameOf, runningIn } from "./team.js";

const agentFiles = ["/v1/admin/configuration/agent/*path", "/admin/configuration/agent/*path"];
const logging = ["/v1/admin/log/appenders", "/v1/admin/log/loggers"];
const rootLevel = ["/admin/log", "/v1/admin/log"];
const letters = "/v1/admin/deadletters";
const byService = ["/v1/admin/metrics", "/admin/metrics"];
const facts = ["/v1/topology", "/openapi.json", "/v1/configuration/properties"];

interface RuleParts {
  readonly through: PassThrough;
  readonly metrics: GatewayMetrics;
  readonly version: string;
  /** When the supervisor began, ISO 8601 UTC. */
  readonly started: string;
  readonly stream: LiveStream;
  readonly live: LiveWorkers;
}

/** What the gateway answers to each operation of an agent. */
export function allRules({ through, metrics, version, started, stream, live }: RuleParts): readonly Rule[] {
  const one: Answering = (call) => through.pass(call, runningIn(call.team));
  const probes = new Probes();
  return [
    { methods: ["get"], paths: ["/live"], answer: probes.live },
    { methods: ["get"], paths: ["/ready"], answer: probes.ready },
    { methods: ["get"], paths: ["/metrics"], answer: metrics.answer },
    { methods: ["get"], paths: ["/v1/version"], answer: async ({ response }) => succeed(response, { version }) },
    { methods: ["get"], paths: ["/v1/access"], answer: answerAccess(started), ofOne: true },
    { methods: ["get"], paths: facts, answer: one },
    { methods: ["get"], paths: ["/v1/configuration"], answer: joined(configuration) },
    { methods: ["get"], paths: ["/v1/stats"], answer: joined(statistics, { limit: LONGEST_LOOK }) },
    { methods: ["put"], paths: ["/v1/stats"], answer: allChange },
    { methods: ["get"], paths: byService, answer: readOrReset },
    { methods: ["delete"], paths: byService, answer: allChange },
    { methods: ["get"], paths: ["/v1/admin/verify"], answer: joined(verification) },
    { methods: ["post"], paths: ["/v1/admin/reload"], answer: allReload },
    { methods: ["post"], paths: ["/v1/admin/explain"], answer: one },
    { methods: ["post"], paths: ["/v1/admin/erasures"], answer: allChangeJoined(mergedErasures) },
    { methods: ["get"], paths: ["/v1/subscriptions"], guard: adminOnly, answer: one },
    { methods: ["post", "delete"], paths: ["/v1/subscriptions"], answer: one },
    { methods: ["post"], paths: ["/v1/subscriptions/list"], answer: one },
    { methods: ["get"], paths: [...rootLevel, ...logging], answer: one },
    { methods: ["put"], paths: rootLevel, answer: allChange },
    { methods: ["put", "post", "delete"], paths: logging, answer: changeOfLogging },
    // Without an interceptor that reads a file the mappings are in memory, and nothing uses them.
    { methods: ["get"], paths: ["/v1/namemappings"], answer: one },
    { methods: ["put", "post", "delete"], paths: ["/v1/namemappings"], answer: firstChanges },
    { methods: ["get"], paths: agentFiles, guard: adminTokenOnly, answer: one },
    { methods: ["put", "post", "delete"], paths: agentFiles, guard: adminTokenOnly, answer: firstChanges },
    { methods: ["get"], paths: [letters], answer: listLetters },
    { methods: ["get"], paths: [`${letters}/search`], answer: searchLetters },
    { methods: ["delete"], paths: [letters], answer: changeLetters },
    { methods: ["post"], paths: [`${letters}/replay`], answer: changeLetters },
    { methods: ["get"], paths: [`${letters}/:id`], guard: adminOnly, answer: showLetter },
    { methods: ["delete"], paths: [`${letters}/:id`], answer: changeLetter(through) },
    { methods: ["post"], paths: [`${letters}/:id/replay`], answer: changeLetter(through) },
    { methods: ["get"], paths: ["/v1/admin/arrivals"], guard: adminOnly, answer: showArrivals },
    { methods: ["put"], paths: ["/v1/admin/arrivals"], answer: startArrivals },
    { methods: ["delete"], paths: ["/v1/admin/arrivals"], answer: allChange },
    { methods: ["get"], paths: ["/v1/stream"], answer: (call) => answerStream(call, stream, live) },
  ];
}

/** Milliseconds that a worker has to tell its counts. */
const LONGEST_LOOK = 5000;

const statistics: Joining = (told, { team }) => mergedStatistics(told, team);

const byServices: Joining = (told) => transactions(told.map(({ body }) => body));

/** With reset=true every worker must run, as for each other change. */
const readOrReset: Answering = (call) => {
  const answering = parameterOf(call.request, "reset") === "true" ? allChangeJoined(byServices) : joined(byServices);
  return answering(call);
};

const verification: Joining = (told, call) => mergedVerification(told, missing(told, call));

function missing(told: readonly Told[], { team }: Call): readonly string[] {
  return absent(
    team,
    told.map(({ worker }) => worker),
  ).map(({ worker, reason }) => `${nameOf(worker)} is not compared: it ${reason}`);
}

/** The file and how it differs from what runs: that of a worker where it differs, since it is to be the same in all. */
const configuration: Joining = (told) => {
  const bodies = told.map(({ body }) => body);
  const shown = bodies.find(({ same }) => same === false) ?? bodies[0];
  const reloads = bodies.flatMap(({ last_reload: last }) => last ?? []);
  return { ...shown, ...(reloads.length === 0 ? {} : { last_reload: lastReload(reloads) }) };
};

/** The logging file is that of all workers; what runs is in the memory of each. */
const changeOfLogging: Answering = (call) => {
  const ofFile = parameterOf(call.request, "transient") === "false";
  return ofFile ? firstChanges(call) : allChange(call);
};

/** What all workers erased, or would erase. */
function mergedErasures(told: readonly Told[]): JsonObject {
  const merged = members({ unsettled: first, channels: listBy(["channel"], members({})) })(
    told.map(({ body }) => body),
  );
  const unsettled = told.flatMap(({ worker, body }) => {
    return listIn(body["unsettled"]).map((sink) => `${nameOf(worker)}: ${String(sink)}`);
  });
  return { ...merged, unsettled };
}
