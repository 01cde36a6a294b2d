interface WrkOrder {
  /** The file with the requests, each behind a line with its length. */
  readonly file: string;
  /** Requests per second of all connections together; undefined: as fast as they are answered. */
  readonly rate: number | undefined;
}

/**
 * The program in Lua that wrk runs: the requests in turn, byte for byte, a schedule when there is a rate, and in the end one line of JSON
 * with the numbers of a load result.
 */
export function wrkScript({ file, rate }: WrkOrder): string {
  return `
local requests, turn = {}, 0

function init()
  local file = io.open(${JSON.stringify(file)}, "rb")
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
${rate === undefined ? "" : schedule(rate)}
function done(summary, latency)
  local seconds = summary.duration / 1e6
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  print(string.format(
    '{"accepted":%d,"refused":%d,"failed":%d,"seconds":%.3f,"cores":%.3f,"p50":%.3f,"p99":%.3f,"p999":%.3f}',
    summary.requests - summary.errors.status, summary.errors.status, failed, seconds, os.clock() / seconds,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000))
end
`;
}

/** Each request has its time on one schedule; a late answer does not move the ones behind it. */
function schedule(rate: number): string {
  return `
local ffi = require("ffi")
ffi.cdef("struct moment { long seconds; long nanos; }; int clock_gettime(int clock, struct moment *now);")
local moment, due = ffi.new("struct moment"), nil

function delay()
  ffi.C.clock_gettime(1, moment)
  local now = tonumber(moment.seconds) * 1000 + tonumber(moment.nanos) / 1e6
  due = (due or now) + ${1000 / rate}
  return math.max(0, math.floor(due - now + 0.5))
end
`;
}
