import { apiLd } from "./api-ld.js";
import { apiV1 } from "./api-v1.js";
import { apiV2 } from "./api-v2.js";
import type { BrokerApi } from "./broker-api.js";

/** By the value of the parameter ngsi_version. */
export const brokerApis: ReadonlyMap<string, BrokerApi> = new Map([
  ["1", apiV1],
  ["2", apiV2],
  ["ld", apiLd],
]);
