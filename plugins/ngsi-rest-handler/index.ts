import { definePlugin } from "deneb/sdk";
import { refusedHeaders } from "./acceptance.js";
import { checkHandler, handlerSchema } from "./config.js";
import { NgsiRestHandler } from "./ngsi-rest-handler.js";
import { ngsiRefusals } from "./refused.js";

export default definePlugin({
  kind: "handler",
  type: "ngsi",
  aliases: ["com.telefonica.iot.cygnus.handlers.NGSIRestHandler"],
  // One class name for the handlers of both APIs, neither of which reads the version.
  spellings: [{ types: ["com.telefonica.iot.cygnus.handlers.NGSIRestHandler"], implies: { ngsi_version: "auto" } }],
  summary: "Turns each entity of an NGSI-LD, NGSI v2 or NGSI v1 notification into an event.",
  stability: "stable",
  refusals: ngsiRefusals,
  refusedHeaders,
  config: handlerSchema,
  check: checkHandler,
  create: (config) => new NgsiRestHandler(config),
});
