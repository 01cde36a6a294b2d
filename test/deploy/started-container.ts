import { chmod, chown, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import path from "node:path";
import { freePort } from "../support/free-port.js";
import { type Ending, type RunningContainer, startContainer } from "./container.js";
import type { BuiltImage } from "./image.js";

export interface Started {
  readonly container: RunningContainer;
  readonly notifyUrl: string;
  readonly managementUrl: string;
}

interface Wanted {
  readonly volume?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts the image on free ports of the loopback interface. */
export async function started(
  t: Ending,
  image: BuiltImage,
  { volume, env = {}, files = {} }: Wanted,
): Promise<Started> {
  const [port, management] = [await freePort("127.0.0.1"), await freePort("127.0.0.1")];
  const container = await startContainer(t, image, {
    volume: volume ?? (await newVolume(image)),
    files,
    env: {
      AGENT_SERVICE_HOST: "127.0.0.1",
      AGENT_SERVICE_PORT: String(port),
      DENEB_MANAGEMENT_PORT: String(management),
      ...env,
    },
  });
  const managementUrl = `http://127.0.0.1:${management}`;
  return { container, notifyUrl: `http://127.0.0.1:${port}/notify`, managementUrl };
}

/** As an engine makes one: with the owner that the folder has in the image. */
export async function newVolume(image: BuiltImage): Promise<string> {
  const volume = await mkdtemp(path.join(image.folder, "volume-"));
  await chown(volume, 10001, 10001);
  return volume;
}

/** Files for a container, by where they are to be in it. */
export async function writtenFiles(
  image: BuiltImage,
  texts: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(path.join(image.folder, "files-"));
  await chmod(folder, 0o755);
  const entries = Object.entries(texts).map(async ([inside, text]) => {
    const outside = path.join(folder, path.basename(inside));
    await mkdir(path.dirname(outside), { recursive: true });
    await writeFile(outside, text);
    return [inside, outside] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
