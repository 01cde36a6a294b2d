import { numberIn, objectIn } from "../json.js";
import { type Join, members, usual } from "./joins.js";

/** The mean of means, each with the number of writes that it is of. */
const serviceTime: Join = (scopes) => {
  const writes = scopes.map((one) => numberIn(objectIn(one)["outgoingTransactions"]));
  const total = writes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  return scopes.reduce<number>(
    (sum, one, at) => sum + (numberIn(objectIn(one)["serviceTime"]) * (writes[at] ?? 0)) / total,
    0,
  );
};

const scope: Join = (scopes) => ({ ...members({})(scopes), serviceTime: serviceTime(scopes) });

const service = members({ subservs: members({}, scope), sum: scope });

/** The answers to `GET /v1/admin/metrics`, added up by service and sub-service. */
export const transactions = members({ services: members({}, service), sum: service }, usual);
