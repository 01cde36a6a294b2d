import type { JsonObject } from "../../../agent/live/merge-patch.js";
import { fail } from "../../answers.js";
import { eventText } from "../../live/listener.js";
import type { LiveStream } from "../../live/live-stream.js";
import { EventReader } from "../../page/browser/live/event-reader.js";
import { parameterOf } from "../../requests.js";
import { answersOf, type Call, isOk } from "../call.js";
import { objectOf } from "../json.js";
import type { LiveWorkers } from "./live-workers.js";

/** `GET /v1/stream`: what all workers do, as the stream of one agent. */
export async function answerStream(call: Call, stream: LiveStream, live: LiveWorkers): Promise<void> {
  const { request, response } = call;
  if (parameterOf(request, "once") === "true") {
    const answers = await answersOf(call);
    const shown = answers.flatMap(({ worker, status, body }) =>
      isOk(status) ? [{ worker, document: snapshotIn(body) }] : [],
    );
    response.status(200).set("Content-Type", "text/event-stream; charset=utf-8");
    response.end(eventText("snapshot", live.merged(shown)));
    return;
  }
  response.once("close", live.hold());
  await live.begun();
  if (response.destroyed || stream.add(response)) return;
  response.set("Retry-After", "5");
  fail(response, 503, { error: "Too many streams are open, or the agent stops. Close one, or try again later" });
}

function snapshotIn(body: Buffer): JsonObject {
  const [event] = new EventReader().take(body.toString());
  return objectOf(event?.data ?? "");
}
