import { z } from 'zod';

type JsonText<T extends z.ZodType> = z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<unknown, string>>, T>;

/** A text that holds a value as JSON. */
export function json<T extends z.ZodType>(schema: T): JsonText<T> {
  const text = z.string().transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'not JSON' });
      return z.NEVER;
    }
  });
  return text.pipe(schema);
}
