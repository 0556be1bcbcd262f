/** What a turn ends with when the log may have become another owner's before its handler was called, or its key was stopped. */
export const NOT_CALLED = Symbol('not called');
