import assert from "node:assert/strict";
import type { Manifest } from "./chart.js";

export interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly volumes: readonly Readonly<Record<string, unknown>>[];
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly livenessProbe: Readonly<Record<string, unknown>>;
    readonly readinessProbe: Readonly<Record<string, unknown>>;
  }[];
}

interface StatefulSetManifest extends Manifest {
  readonly spec: {
    readonly template: { readonly spec: PodSpec };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
}

export function statefulSet(manifests: readonly Manifest[]): StatefulSetManifest {
  const found = manifests.find(isStatefulSet);
  assert.ok(found !== undefined);
  return found;
}

function isStatefulSet(manifest: Manifest): manifest is StatefulSetManifest {
  return manifest.kind === "StatefulSet";
}

/** The value of a variable of the agent. */
export function variable({ containers }: PodSpec, name: string): string | undefined {
  return containers[0]?.env.find((one) => one.name === name)?.value;
}
