import { definePlugin } from "deneb/sdk";
import { checkRedisOnce, redisOnceSchema } from "./config.js";
import { redisOnce } from "./redis-once.js";

export default definePlugin({
  apiVersion: 1,
  kind: "sink",
  type: "redis-once",
  summary: "Adds each event once to a Redis stream.",
  stability: "beta",
  config: redisOnceSchema,
  check: checkRedisOnce,
  create: redisOnce,
});
