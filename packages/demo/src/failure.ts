/** The demo can't go on, for a reason that its message tells in full: no stack trace would add to it. */
export class DemoFailure extends Error {}
