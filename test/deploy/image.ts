import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "../support/repository.js";
import { addNode, addNpm, debianRoot, makeShellRoot, makeSmallRoot } from "./debian-root.js";
import { tool } from "./tool.js";

/** What an engine reads of an image. */
export interface ImageConfig {
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface BuiltImage {
  readonly config: ImageConfig;
  /** Its files. */
  readonly root: string;
  /** A folder for what else the test needs. */
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Builds the image as its Containerfile says, on bases made of Debian packages instead of images of a registry: one with
 * the node and npm of this machine to build, one without a shell to run.
 */
export async function buildImage(revision: string): Promise<BuiltImage> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-image-"));
  const buildah = await buildahIn(folder);
  const remove = async () => {
    await buildah("umount", "--all").catch(() => "");
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await makeBases(folder, buildah);
    const bases = ["--build-arg", "BUILD_BASE=localhost/build-base", "--build-arg", "BASE=localhost/base"];
    const secret = await npmSettings();
    const file = path.join(repositoryRoot, "deploy", "container", "Containerfile");
    const options = [
      "--isolation",
      "chroot",
      "--format",
      "docker",
      "--pull-never",
      "--build-arg",
      `REVISION=${revision}`,
    ];
    await buildah("build", ...options, ...bases, ...secret, "--file", file, "--tag", "deneb", repositoryRoot);
    const inspected: { readonly Docker: { readonly config: ImageConfig } } = JSON.parse(
      await buildah("inspect", "--type", "image", "deneb"),
    );
    const container = (await buildah("from", "--pull-never", "deneb")).trim();
    const root = (await buildah("mount", container)).trim();
    return { config: inspected.Docker.config, root, folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

type Buildah = (...args: readonly string[]) => Promise<string>;

/** Keeps images in the folder, not among those of the machine. */
async function buildahIn(folder: string): Promise<Buildah> {
  const storedBy = (driver: string): Buildah => {
    const storage = ["--root", path.join(folder, driver), "--runroot", path.join(folder, `run-${driver}`)];
    return (...args) => tool("buildah", ["--storage-driver", driver, ...storage, ...args]);
  };
  const overlay = storedBy("overlay");
  // Where overlays cannot be mounted each layer is a copy of all files.
  return await overlay("info").then(
    () => overlay,
    () => storedBy("vfs"),
  );
}

async function makeBases(folder: string, buildah: Buildah): Promise<void> {
  const debian = await debianRoot(folder);
  const build = path.join(folder, "build");
  const small = path.join(folder, "small");
  await makeShellRoot(build, debian);
  await makeSmallRoot(small, debian);
  await addNode(build);
  await addNpm(build);
  const certificates = process.env["NODE_EXTRA_CA_CERTS"] ?? "";
  const env = existsSync(certificates) ? ["--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/authorities.pem"] : [];
  if (env.length > 0) {
    await mkdir(path.join(build, "etc", "ssl"), { recursive: true });
    await cp(certificates, path.join(build, "etc", "ssl", "authorities.pem"), { dereference: true });
  }
  for (const [name, root, ...options] of [
    ["build-base", build, ...env],
    ["base", small],
  ] as const) {
    const container = (await buildah("from", "scratch")).trim();
    await buildah("add", "--quiet", container, root, "/");
    if (options.length > 0) await buildah("config", ...options, container);
    await buildah("commit", "--quiet", "--rm", container, `localhost/${name}`);
    await rm(root, { recursive: true });
  }
}

/** How npm reaches its registry from this machine. */
async function npmSettings(): Promise<readonly string[]> {
  const file = (await tool("npm", ["config", "get", "userconfig"])).trim();
  return existsSync(file) ? ["--secret", `id=npmrc,src=${file}`] : [];
}
