/** Milliseconds between looks at the parent. */
const LOOK_EVERY = 500;

/**
 * Aborts when the npm that runs this command is gone; undefined when it was not started by npm. `npx` and
 * `npm run` pass SIGTERM on to their shell only, which dies of it and tells nobody: without this look the
 * pipelines would run on unseen, and make their successors stand by.
 */
export function npmGone(env: NodeJS.ProcessEnv = process.env): AbortSignal | undefined {
  if (env['npm_lifecycle_event'] === undefined) return undefined;
  const gone = new AbortController();
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    gone.abort('the npm that started it is gone');
  }, LOOK_EVERY);
  looking.unref();
  return gone.signal;
}
