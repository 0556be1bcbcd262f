import type { Logger } from '@strandline/core';
import type { MiddlewareHandler } from 'hono';
import { Refusals } from '../audit/refusals.js';
import { refusalOf, type AccessRules } from './access.js';
import { addressOf, callerOf } from './caller.js';

/** Lets in who may ask, and sees to it that no answer is kept or taken for something else. */
export function guard(rules: AccessRules, log: Logger): MiddlewareHandler {
  const refusals = new Refusals(log);
  return async (context, next) => {
    const refusal = refusalOf(callerOf(context), rules);
    context.header('cache-control', 'no-store');
    context.header('x-content-type-options', 'nosniff');
    if (refusal === null) {
      await next();
      // An answer that was made of itself has none of what was said before.
      context.header('cache-control', 'no-store');
      context.header('x-content-type-options', 'nosniff');
      return;
    }
    const { status, ...problem } = refusal;
    refusals.tell(refusal.code, context.req.method, addressOf(context));
    if (status === 401) context.header('www-authenticate', 'Bearer realm="strandline"');
    return context.json(problem, status);
  };
}
