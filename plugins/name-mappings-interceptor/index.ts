import { definePlugin } from "deneb/sdk";
import { checkNameMappings, nameMappingsSchema } from "./config.js";
import { NameMappingsInterceptor } from "./name-mappings-interceptor.js";

export default definePlugin({
  kind: "interceptor",
  type: "name-mappings",
  aliases: ["com.telefonica.iot.cygnus.interceptors.NGSINameMappingsInterceptor$Builder"],
  summary: "Gives each event new names of service, service path, entity and attributes, beside the original ones.",
  stability: "stable",
  config: nameMappingsSchema,
  check: checkNameMappings,
  create: (config, context) => new NameMappingsInterceptor(config, context),
});
