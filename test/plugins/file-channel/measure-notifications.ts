import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { lockFolder } from "../../../core/files/folder-lock.js";
import { notificationCodec } from "../../../core/ngsi/index.js";
import { forgetTexts } from "../../../core/sdk/kept-text.js";
import { FileChannel } from "../../../plugins/file-channel/file-channel.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { forms } from "../../bench/forms.js";
import { notificationBodies } from "../../bench/notifications.js";
import { recordingLog } from "../../support/recording-log.js";
import { handlerConfig } from "../ngsi-rest-handler/inbound-request.js";
import { usual } from "./channel-folder.js";

/**
 * CPU time of this process for one notification that is decoded, put by 64 senders at once, taken and released: kept as it
 * was sent, and as JSON made of its event, in turn. Run: node dist/test/plugins/file-channel/measure-notifications.js
 */
const SENDERS = 64;
const EACH = 1600;
const NOTIFICATIONS = SENDERS * EACH;
const ROUNDS = 5;

const lowerCase = Object.entries(forms.ld.headers("bench")).map(([name, value]) => [name.toLowerCase(), value]);
const requests = notificationBodies({ format: "ld", entities: 100 }).map((body) => ({
  method: "POST",
  path: "/notify",
  headers: Object.fromEntries(lowerCase),
  body: Buffer.from(body),
}));
const handler = new NgsiRestHandler(handlerConfig);

const results = { kept: [] as number[], json: [] as number[] };
await microseconds(true);
await microseconds(false);
for (let round = 0; round < ROUNDS; round += 1) {
  results.kept.push(await microseconds(true));
  results.json.push(await microseconds(false));
}
for (const [name, values] of Object.entries(results)) {
  values.sort((one, other) => one - other);
  const [least, median, most] = [values.at(0), values.at(ROUNDS >> 1), values.at(-1)].map((value) => value?.toFixed(1));
  console.log(`${name}: ${median} µs (${least}-${most})`);
}

async function microseconds(kept: boolean): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-measure-"));
  const { log } = recordingLog();
  const channel = new FileChannel(
    { ...usual, byteCapacity: 4_294_967_296, maxFileSize: 67_108_864 },
    {
      name: "c1",
      log,
      dataDir: folder,
      run: "run",
      now: () => new Date(),
      lockFolder: (at, claim = {}) => lockFolder(at, claim, { seconds: 0, log }),
      ...(kept ? { textCodecs: [notificationCodec] } : {}),
    },
  );
  await channel.start();
  const before = process.cpuUsage();
  await Promise.all([taking(channel), ...Array.from({ length: SENDERS }, () => sending(channel))]);
  const { user, system } = process.cpuUsage(before);
  await channel.stop();
  await rm(folder, { recursive: true });
  return (user + system) / NOTIFICATIONS;
}

async function sending(channel: FileChannel): Promise<void> {
  for (let sent = 0; sent < EACH; sent += 1) {
    const [request] = requests.slice(sent % requests.length);
    if (request === undefined) return;
    const { events } = handler.decode({ ...request, receivedAt: new Date() });
    const put = channel.openPut();
    for (const event of events) put.put(event);
    await put.commit();
    forgetTexts(events);
  }
}

/** As a sink that takes some milliseconds for what waits. */
async function taking(channel: FileChannel): Promise<void> {
  const waiting = new AbortController();
  for (let left = NOTIFICATIONS; left > 0; ) {
    const take = channel.openTake();
    left -= (await take.take(1000, waiting.signal)).length;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await take.commit();
  }
}
