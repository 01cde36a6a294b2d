import type { Request, Response } from "express";

/** What a management request says about whose subscription it is; handed on to the broker where it is given. */
export interface Caller {
  readonly service: string | undefined;
  readonly servicePath: string | undefined;
  readonly tenant: string | undefined;
  readonly link: string | undefined;
  readonly correlator: string | undefined;
}

export function callerOf(request: Request, response: Response): Caller {
  return {
    service: request.get("fiware-service"),
    servicePath: request.get("fiware-servicepath"),
    tenant: request.get("ngsild-tenant") || request.get("fiware-service"),
    link: request.get("link"),
    correlator: response.get("fiware-correlator"),
  };
}

/** The headers that hold something. */
export function givenHeaders(headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]])),
  );
}

/** The headers that the NGSI brokers share. */
export function fiwareHeaders({ service, servicePath, correlator }: Caller): Readonly<Record<string, string>> {
  return givenHeaders({
    "Fiware-Service": service,
    "Fiware-ServicePath": servicePath,
    "Fiware-Correlator": correlator,
  });
}
