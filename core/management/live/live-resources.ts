import { Router } from "express";
import type { LiveView } from "../../agent/live/live-view.js";
import type { TopologyView } from "../../agent/state/topology-view.js";
import { fail, succeed } from "../answers.js";
import { answer, failure, operation, queryParameter, type Resource, schemaRef } from "../openapi.js";
import { parameterOf } from "../requests.js";
import { eventText } from "./listener.js";
import { liveSchemas } from "./live-openapi.js";
import type { LiveStream } from "./live-stream.js";

/** `GET /v1/stream`: what the agent does, as server-sent events, about once a second. */
export function streamResource(stream: LiveStream, live: Pick<LiveView, "watch">): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/v1/stream", (request, response) => {
    if (parameterOf(request, "once") === "true") {
      response.status(200).set("Content-Type", "text/event-stream; charset=utf-8");
      response.end(eventText("snapshot", live.watch()()));
      return;
    }
    if (stream.add(response)) return;
    response.set("Retry-After", "5");
    fail(response, 503, { error: "Too many streams are open, or the agent stops. Close one, or try again later" });
  });
  const get = operation({
    summary: "States, rates, ledgers and dead letters of all components, live.",
    parameters: [queryParameter("once", "true for one snapshot, without rates.", { enum: ["true"] })],
    responses: {
      "200": {
        description:
          "Server-sent events: snapshot (LiveDocument), change (a JSON merge patch of it), topology (a new revision), end.",
        content: { "text/event-stream": { schema: schemaRef("LiveDocument") } },
      },
      "503": failure("Too many streams are open, or the agent stops."),
    },
  });
  return { router, paths: { "/v1/stream": { get } }, schemas: { LiveDocument: liveSchemas.LiveDocument } };
}

/** `GET /v1/topology`: the components of the running configuration and their links. */
export function topologyResource(topology: () => TopologyView): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/v1/topology", (_request, response) => succeed(response, { topology: topology() }));
  const get = operation({
    summary: "Components of the running configuration with their settings, links and groups; secrets are masked.",
    responses: { "200": answer("The topology.", schemaRef("Topology")) },
  });
  const { LiveDocument: _, ...schemas } = liveSchemas;
  return { router, paths: { "/v1/topology": { get } }, schemas };
}
