/** W3C Trace Context: `version-trace-parent-flags`; a later version may add more behind that. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.+)?$/;
const ZEROS = /^0+$/;
/** A list of `key=value` in printable ASCII; what is longer may be cut off by anybody, so it is not passed on. */
const TRACESTATE = /^[\x20-\x7e]*$/;
const LONGEST_TRACESTATE = 512;

/** The trace that an event belongs to, from its mapped headers, as headers of a request. Empty when it is not valid. */
export function traceContext(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' || !isTraceparent(traceparent)) return {};
  const passed = typeof tracestate === 'string' && isTracestate(tracestate);
  return passed ? { traceparent, tracestate } : { traceparent };
}

function isTraceparent(text: string): boolean {
  const [, version, trace, parent, more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || trace === undefined || parent === undefined) return false;
  if (version === 'ff' || ZEROS.test(trace) || ZEROS.test(parent)) return false;
  return more === undefined || (version !== '00' && /^[\x21-\x7e]+$/.test(more));
}

function isTracestate(text: string): boolean {
  return text !== '' && text.length <= LONGEST_TRACESTATE && TRACESTATE.test(text);
}
