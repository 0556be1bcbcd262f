/** The two headers of https://www.w3.org/TR/trace-context/, as they came. */
export interface GivenTrace {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** The same, valid. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** §3.3.1: a key is simple or has a tenant; a value is printable ASCII without `,` and `=`, and ends in no space. */
const MEMBER =
  /^(?:[a-z][\da-z_\-*/]{0,255}|[\da-z][\da-z_\-*/]{0,240}@[a-z][\da-z_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MOST_MEMBERS = 32;

/**
 * What of a trace context may be passed on: by the W3C's rule one whose `traceparent` is invalid is left out, and a
 * `tracestate` that is invalid is left out of it. They come with requests from anywhere, so no transaction of the
 * application fails for them.
 */
export function validTrace({ traceparent, tracestate }: GivenTrace): TraceContext | null {
  if (!isTraceparent(traceparent)) return null;
  return isTracestate(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function isTraceparent(text: unknown): text is string {
  const found = typeof text === 'string' ? TRACEPARENT.exec(text) : null;
  if (found === null) return false;
  const [, version, trace = '', span = '', more] = found;
  // Only a version that is not known yet may have more fields.
  if (version === 'ff' || (version === '00' && more !== undefined)) return false;
  return /[^0]/.test(trace) && /[^0]/.test(span);
}

function isTracestate(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  // Members may be empty, and have blanks around them.
  const members = text
    .split(',')
    .map((member) => member.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return (
    members.length > 0 &&
    members.length <= MOST_MEMBERS &&
    keys.size === members.length &&
    members.every((member) => MEMBER.test(member))
  );
}
